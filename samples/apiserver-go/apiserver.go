// Package apiserver starts the API server of operator-builder for a test, and controls it.
package apiserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Server is a running API server.
type Server struct {
	// URL of the Kubernetes API.
	URL string `json:"url"`
	// Kubeconfig is the path of a kubeconfig of the administrator.
	Kubeconfig string `json:"kubeconfig"`
	Control    struct {
		URL   string `json:"url"`
		Token string `json:"token"`
	} `json:"control"`
	command *exec.Cmd
	folder  string
}

// Status is an error of the control API.
type Status struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (s *Status) Error() string { return s.Message }

// Start starts a server with options of `operator-builder apiserver`, such as "--workloads". The environment
// variable OPERATOR_BUILDER is the program; its default is "npx operator-builder".
func Start(options ...string) (*Server, error) {
	program := strings.Fields(os.Getenv("OPERATOR_BUILDER"))
	if len(program) == 0 {
		program = []string{"npx", "operator-builder"}
	}
	folder, err := os.MkdirTemp("", "apiserver-")
	if err != nil {
		return nil, err
	}
	words := append(program, "apiserver", "--output", "json", "--kubeconfig", filepath.Join(folder, "kubeconfig"))
	words = append(words, options...)
	command := exec.Command(words[0], words[1:]...)
	command.Stderr = os.Stderr
	// npx starts the server as a child: the signal of Stop must reach the whole group.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	server := &Server{command: command, folder: folder}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, server)
	}
	if err != nil {
		_ = server.Stop()
		return nil, fmt.Errorf("the API server did not start: %w; its standard error has the reason", err)
	}
	return server, nil
}

// Stop ends the server and waits for its end.
func (s *Server) Stop() error {
	defer os.RemoveAll(s.folder)
	if err := syscall.Kill(-s.command.Process.Pid, syscall.SIGTERM); err != nil {
		return err
	}
	return s.command.Wait()
}

// Call sends a request to the control API: Call(ctx, "POST", "/faults", rule, &fault). Both in and out may be
// nil. A refusal is a *Status.
func (s *Server) Call(ctx context.Context, method, path string, in, out any) error {
	body := []byte{}
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.Control.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.Control.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		status := &Status{}
		if err := json.Unmarshal(answer, status); err != nil {
			return err
		}
		return status
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
