package k8s

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// checkDefinition compares a manifest with the CustomResourceDefinition in a file of a Go
// module, as an API server does in which it is installed: defaults, types, lists, rules.
func checkDefinition(module, file string, manifest []byte) []error {
	schema, err := definition(module, file)
	if err != nil {
		return []error{err}
	}
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		return []error{err}
	}
	var object map[string]any
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return []error{err}
	}
	defaulting.Default(object, structural)
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		return []error{err}
	}
	found := validation.ValidateCustomResource(nil, object, validator)
	found = append(found, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
	if rules := cel.NewValidator(structural, true, celconfig.PerCallLimit); rules != nil {
		broken, _ := rules.Validate(context.Background(), field.NewPath(""), structural, object, nil, celconfig.RuntimeCELCostBudget)
		found = append(found, broken...)
	}
	var errs []error
	for _, e := range found {
		errs = append(errs, e)
	}
	return errs
}

// definition reads the schema of the newest version in a CustomResourceDefinition.
func definition(module, file string) (*apiextensions.JSONSchemaProps, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return nil, fmt.Errorf("where is %s: %w", module, err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
	if err != nil {
		return nil, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			var out apiextensions.JSONSchemaProps
			err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &out, nil)
			return &out, err
		}
	}
	return nil, fmt.Errorf("%s has no version that is stored", file)
}
