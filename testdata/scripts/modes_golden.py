"""Writes internal/data/annotated/testdata/*.jpg with Pillow: one picture of 24x16 in the
color modes that datasets have, turned by EXIF, and as a PNG under the name of a JPEG.
Run: /usr/bin/python3 testdata/scripts/modes_golden.py
"""

from PIL import Image

OUT = "internal/data/annotated/testdata/"
rgb = Image.new("RGB", (24, 16))
rgb.putdata([(x * 10, y * 15, 90) for y in range(16) for x in range(24)])
rgb.save(OUT + "rgb.jpg", quality=80)
rgb.save(OUT + "progressive.jpg", quality=80, progressive=True, subsampling=0)
rgb.convert("L").save(OUT + "gray.jpg", quality=80)
rgb.convert("CMYK").save(OUT + "cmyk.jpg", quality=80)
rgb.convert("P").save(OUT + "palette.jpg", "PNG")
rgb.convert("RGBA").save(OUT + "alpha.jpg", "PNG")
for order, name in ((6, "turned.jpg"), (1, "upright.jpg")):
    exif = Image.Exif()
    exif[0x0112] = order
    rgb.save(OUT + name, quality=80, exif=exif)
