import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { Agent, request } from 'undici';
import { controllerFor, requeueAfter } from '../../lib/controller/index.js';
import type { Manager } from '../../lib/manager/manager.js';
import { ConfigMap, Secret } from '../../lib/object/kinds.js';
import { scrapedManager } from '../manager/metrics/scraped-manager.js';
import { served } from '../manager/served.js';
import { askGoProgram } from './go-program.js';

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Query {
  readonly title: string;
  readonly expr: string;
}

/** The answer of Prometheus to a query. */
interface Answer {
  readonly samples?: readonly { readonly labels: object; readonly value: string }[] | null;
  readonly error?: string;
}

/** Returns the queries of all panels, with the variables as Grafana fills them in. */
async function queries(): Promise<readonly Query[]> {
  const page = new URL('../../docs/grafana-dashboard.json', import.meta.url);
  const { panels } = JSON.parse(await readFile(page, 'utf8')) as { panels: readonly Panel[] };
  const variables = { $__rate_interval: '1m', $job: '.*', $controller: '.*' };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expr: Object.entries(variables).reduce((text, each) => text.replaceAll(...each), expr),
    })),
  );
}

/** The time between two scrapes, in milliseconds. */
const intervalMs = 15_000;
const startMs = Date.parse('2026-01-01T00:00:00Z');

describe('the panels of the Grafana dashboard', function () {
  // The first run compiles Prometheus' query engine.
  this.timeout(900_000);

  it('show data of a real operator when Prometheus evaluates their queries', async () => {
    const registry = new Registry();
    const { setup, manager } = await scrapedManager(registry, (made, { clock }) => {
      const troubled = controllerFor(ConfigMap)
        .withOptions({ name: 'troubled' })
        .watches(Secret, () => {
          throw new Error('a mapper that throws');
        })
        .complete(async ({ key, client }) => {
          if (key.name.endsWith('bad')) throw new Error('not today');
          const body = { data: { round: String(clock.now()) } };
          await client.patch(ConfigMap, key, { type: 'merge', body });
          return requeueAfter(5_000, 'again');
        });
      made.add(troubled);
    });
    try {
      const scrapes: { readonly time: number; readonly text: string }[] = [];
      for (let round = 0; round < 6; round++) {
        const { text } = await served(manager, '/metrics');
        scrapes.push({ time: startMs + round * intervalMs, text });
        await setup.create(`map-${round}`);
        await setup.create(`map-${round}-bad`);
        const metadata = { name: `secret-${round}`, namespace: 'default' };
        await setup.person.create({ apiVersion: 'v1', kind: 'Secret', metadata });
        const { faults, server } = setup.cluster;
        const effect = { type: 'status', code: 503, retryAfterSeconds: 1 } as const;
        faults.add({ match: { resource: 'leases' }, effect, times: 1 });
        const watches = { resource: 'configmaps', verb: 'watch' } as const;
        faults.add({ match: watches, effect: { type: 'status', code: 500 }, times: 1 });
        server.dropWatches();
        await review(manager);
        await setup.clock.advance(intervalMs);
      }
      const asked = await queries();
      const answers = (await askGoProgram(join(import.meta.dirname, 'promql'), {
        labels: { job: 'shops', instance: '10.0.0.1:8443' },
        ...{ scrapes, queries: asked.map(({ expr }) => expr) },
        time: startMs + 5 * intervalMs,
      })) as readonly Answer[];
      const answered = asked.map((query, at) => ({ ...query, ...answers[at] }));
      expect(answered.filter(({ error }) => error !== undefined)).to.deep.equal([]);
      const empty = answered.filter(({ samples }) => (samples ?? []).length === 0);
      // Queries about failures have samples, too, because of the faults above.
      expect(
        empty.map(({ title, expr }) => `${title}: ${/\w+_\w+/.exec(expr)?.[0]}`),
      ).to.deep.equal([]);
      const valueOf = (title: string): number =>
        Number(answered.find((query) => query.title === title)?.samples?.[0]?.value);
      expect(valueOf('Reconciles per second')).to.be.above(0);
      expect(valueOf('Errors per second')).to.be.above(0);
      expect(valueOf('Cached objects')).to.be.above(10);
      expect(valueOf('Source errors')).to.be.above(0);
    } finally {
      await setup.end();
    }
  });
});

/** Sends an admission review to the webhook of the manager. */
async function review(manager: Manager): Promise<void> {
  const { url = '' } = manager.status().runnables.find(({ name }) => name === 'webhooks') ?? {};
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const userInfo = { username: 'jane', groups: [] };
  const asked = {
    uid: 'u-1',
    operation: 'CREATE',
    kind,
    name: 'a',
    namespace: 'n',
    userInfo,
    object,
  };
  const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked };
  const answer = await request(`${url}/validate--v1-configmap`, {
    ...{ method: 'POST', dispatcher, body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json' },
  });
  expect(answer.statusCode).to.equal(200);
  await answer.body.dump();
  await dispatcher.close();
}
