import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { explainedMetrics } from './explained-metrics.js';

interface Target {
  readonly refId: string;
  readonly expr: string;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly Target[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string;
}

interface Dashboard {
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

async function dashboard(): Promise<Dashboard> {
  const page = new URL('../../../docs/grafana-dashboard.json', import.meta.url);
  return JSON.parse(await readFile(page, 'utf8')) as Dashboard;
}

/** Returns the metric names in an expression: names with a selector. */
function metricsOf(expression: string): string[] {
  return [...expression.matchAll(/([a-z_:][a-z0-9_:]*)\{/g)].map(([, name = '']) => name);
}

/** Returns the labels that an expression selects and groups by, without those of Prometheus. */
function labelsOf(expression: string): string[] {
  const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  const selected = [...expression.matchAll(/(\w+)=~/g)].map(([, label = '']) => label);
  return [...grouped, ...selected].filter((label) => !['job', 'instance', 'le'].includes(label));
}

describe('The Grafana dashboard', () => {
  it('queries only exported metrics and labels', async () => {
    const known = await explainedMetrics();
    const { panels } = await dashboard();
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).to.be.above(30);
    for (const expression of expressions) {
      const [name = '', ...others] = metricsOf(expression);
      expect(others, expression).to.deep.equal([]);
      const metric = known.get(name) ?? known.get(name.replace(/_bucket$/, ''));
      expect(metric, expression).not.to.equal(undefined);
      expect(name.endsWith('_bucket'), expression).to.equal(metric?.type === 'histogram');
      expect(metric?.labels, expression).to.include.members(labelsOf(expression));
      const isRated = /(rate|increase)\(/.test(expression);
      expect(isRated, expression).to.equal(metric?.type !== 'gauge');
    }
  });

  it('uses every metric family of controllers, queues and caches', async () => {
    const text = JSON.stringify(await dashboard());
    const families = /^(controller_runtime_(?!webhook|conversion)|operator_builder_)/;
    for (const name of (await explainedMetrics()).keys()) {
      if (families.test(name)) expect(text, name).to.include(name);
    }
  });

  it('can be imported by Grafana', async () => {
    const { title, schemaVersion, panels, templating } = await dashboard();
    expect([title, schemaVersion >= 36]).to.deep.equal(['operator-builder', true]);
    const ids = panels.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(templating.list.map(({ name }) => name)).to.include.members(['datasource', 'job']);
    for (const { type, title: name, gridPos, targets = [] } of panels) {
      expect(['row', 'stat', 'timeseries'], name).to.include(type);
      expect(gridPos.x + gridPos.w, name).to.be.at.most(24);
      expect(targets.length > 0, name).to.equal(type !== 'row');
      const references = targets.map(({ refId }) => refId);
      expect(new Set(references).size, name).to.equal(references.length);
    }
  });

  it('has no overlapping panels', async () => {
    const { panels } = await dashboard();
    const taken = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.get(`${x} ${y}`), title).to.equal(undefined);
          taken.set(`${x} ${y}`, title);
        }
      }
    }
  });
});
