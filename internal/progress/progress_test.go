package progress

import (
	"fmt"
	"testing"
)

func TestCount(t *testing.T) {
	var said []string
	say := Say(func(stage string, done, total int) { said = append(said, fmt.Sprintf("%s %d/%d", stage, done, total)) })
	say.Of("embed").Tell(3, 7)
	say.Of("search")(1, 0)
	Count(nil).Tell(1, 2) // nobody listens
	if got := fmt.Sprint(said); got != "[embed 3/7 search 1/0]" {
		t.Error(got)
	}
}
