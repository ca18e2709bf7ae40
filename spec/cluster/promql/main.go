// Evaluates queries as Prometheus does, over scrapes that it reads from its input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"
)

type scrape struct {
	Time int64  `json:"time"`
	Text string `json:"text"`
}

type input struct {
	// Labels of the target, as the scrape configuration sets them.
	Labels  map[string]string `json:"labels"`
	Scrapes []scrape          `json:"scrapes"`
	Queries []string          `json:"queries"`
	// Time of the evaluation, in milliseconds.
	Time int64 `json:"time"`
}

type sample struct {
	Labels map[string]string `json:"labels"`
	Value  string            `json:"value"`
}

type result struct {
	Samples []sample `json:"samples"`
	Error   string   `json:"error,omitempty"`
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
	folder, err := os.MkdirTemp("", "promql-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	db, err := tsdb.Open(folder, nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, one := range wanted.Scrapes {
		if err := store(db, one, wanted.Labels); err != nil {
			return err
		}
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute})
	results := []result{}
	for _, query := range wanted.Queries {
		results = append(results, evaluate(engine, db, query, time.UnixMilli(wanted.Time)))
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

func store(db *tsdb.DB, one scrape, target map[string]string) error {
	appender := db.Appender(context.Background())
	parser := textparse.NewPromParser([]byte(one.Text), labels.NewSymbolTable(), false)
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return appender.Commit()
		}
		if err != nil {
			return fmt.Errorf("scrape: %w", err)
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, value := parser.Series()
		var series labels.Labels
		parser.Labels(&series)
		builder := labels.NewBuilder(series)
		for name, text := range target {
			builder.Set(name, text)
		}
		if _, err := appender.Append(0, builder.Labels(), one.Time, value); err != nil {
			return err
		}
	}
}

func evaluate(engine *promql.Engine, db *tsdb.DB, text string, at time.Time) result {
	query, err := engine.NewInstantQuery(context.Background(), db, nil, text, at)
	if err != nil {
		return result{Error: err.Error()}
	}
	defer query.Close()
	answer := query.Exec(context.Background())
	vector, err := answer.Vector()
	if err != nil {
		return result{Error: err.Error()}
	}
	samples := []sample{}
	for _, one := range vector {
		samples = append(samples, sample{Labels: one.Metric.Map(), Value: fmt.Sprint(one.F)})
	}
	return result{Samples: samples}
}
