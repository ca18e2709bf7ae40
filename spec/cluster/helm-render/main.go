// Renders and lints a chart as `helm template` and `helm lint` do. It reads the renderings that are
// wanted from its input, as JSON, and writes what became of them: one process for many, because
// starting is what takes long.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
)

type input struct {
	Chart      string      `json:"chart"`
	Renderings []rendering `json:"renderings"`
}

type rendering struct {
	Release   string                 `json:"release"`
	Namespace string                 `json:"namespace"`
	Values    map[string]interface{} `json:"values"`
}

type result struct {
	Manifest string `json:"manifest"`
	Notes    string `json:"notes"`
	Error    string `json:"error"`
}

type output struct {
	Lint    []string `json:"lint"`
	Results []result `json:"results"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var wanted input
	if err := json.NewDecoder(os.Stdin).Decode(&wanted); err != nil {
		return err
	}
	out := output{Lint: lint(wanted.Chart), Results: []result{}}
	for _, one := range wanted.Renderings {
		out.Results = append(out.Results, render(wanted.Chart, one))
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func lint(chart string) []string {
	linter := action.NewLint()
	linter.Strict = true
	said := []string{}
	for _, message := range linter.Run([]string{chart}, map[string]interface{}{}).Messages {
		said = append(said, message.Error())
	}
	return said
}

func render(path string, wanted rendering) result {
	chart, err := loader.Load(path)
	if err != nil {
		return result{Error: err.Error()}
	}
	install := action.NewInstall(&action.Configuration{
		Capabilities: chartutil.DefaultCapabilities,
		KubeClient:   &kubefake.PrintingKubeClient{Out: io.Discard},
		Log:          func(string, ...interface{}) {},
		Releases:     storage.Init(driver.NewMemory()),
	})
	install.ClientOnly = true
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"}
	install.DryRun = true
	install.IncludeCRDs = true
	install.ReleaseName = wanted.Release
	install.Namespace = wanted.Namespace
	release, err := install.Run(chart, wanted.Values)
	if err != nil {
		return result{Error: err.Error()}
	}
	return result{Manifest: release.Manifest, Notes: release.Info.Notes}
}
