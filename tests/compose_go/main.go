// Prints projects as compose's own library reads them: compose_go FOLDER..., a JSON object by the folders' names.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

func load(folder string) (map[string]any, error) {
	options, err := cli.NewProjectOptions(
		[]string{filepath.Join(folder, "compose.yaml")}, cli.WithWorkingDirectory(folder), cli.WithOsEnv, cli.WithDotEnv,
	)
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return nil, err
	}
	if project, err = project.WithServicesEnvironmentResolved(true); err != nil {
		return nil, err
	}
	text, err := project.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var found map[string]any
	return found, json.Unmarshal(text, &found)
}

func main() {
	projects := map[string]any{}
	for _, folder := range os.Args[1:] {
		project, err := load(folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, folder, err)
			os.Exit(1)
		}
		projects[filepath.Base(folder)] = project
	}
	text, _ := json.MarshalIndent(projects, "", " ")
	fmt.Println(string(text))
}
