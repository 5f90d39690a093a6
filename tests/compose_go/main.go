// Prints projects as compose's own library reads them.
//
// compose_go FOLDER...: a JSON object by the folders' names; the first that cannot be read ends it.
// compose_go -each PARENT: the same of all folders in one, where a project that is refused is {"refused": why}.
// compose_go -schema: of each line of the input, a file in JSON, 1 if the library's schema allows it, 0 if not.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/schema"
	"github.com/docker/cli/pkg/kvfile"
	"github.com/sirupsen/logrus"
)

// raw is what docker compose registers for env_file's "format: raw".
func raw(file io.Reader, _ string, found map[string]string, outer func(string) (string, bool)) error {
	lines, err := kvfile.ParseFromReader(file, outer)
	if err != nil {
		return err
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		found[name] = value
	}
	return nil
}

func load(folder string) (found map[string]any, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("panic: %v", why)
		}
	}()
	files := []string{filepath.Join(folder, "compose.yaml")}
	if over := filepath.Join(folder, "over.yaml"); exists(over) {
		files = append(files, over)
	}
	options, err := cli.NewProjectOptions(files, cli.WithWorkingDirectory(folder), cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv)
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
	return found, json.Unmarshal(text, &found)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func each(parent string) (map[string]any, error) {
	projects := map[string]any{}
	folders, err := os.ReadDir(parent)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		project, err := load(filepath.Join(parent, folder.Name()))
		if err != nil {
			project = map[string]any{"refused": err.Error()}
		}
		projects[folder.Name()] = project
	}
	return projects, nil
}

func all(folders []string) (map[string]any, error) {
	projects := map[string]any{}
	for _, folder := range folders {
		project, err := load(folder)
		if err != nil {
			return nil, fmt.Errorf("%s %w", folder, err)
		}
		projects[filepath.Base(folder)] = project
	}
	return projects, nil
}

func validate(files io.Reader, answers io.Writer) error {
	lines := bufio.NewScanner(files)
	for lines.Scan() {
		var file map[string]any
		if err := json.Unmarshal(lines.Bytes(), &file); err != nil {
			return err
		}
		answer := "1"
		if schema.Validate(file) != nil {
			answer = "0"
		}
		if _, err := io.WriteString(answers, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-schema" {
		if err := validate(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	dotenv.RegisterFormat("raw", raw)
	var projects map[string]any
	var err error
	if len(os.Args) == 3 && os.Args[1] == "-each" {
		logrus.SetOutput(io.Discard)
		projects, err = each(os.Args[2])
	} else {
		projects, err = all(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, _ := json.MarshalIndent(projects, "", " ")
	fmt.Println(string(text))
}
