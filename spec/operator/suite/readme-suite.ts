import { expect } from 'chai';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureCrd } from '../../../lib/client/index.js';
import { findCondition } from '../../../lib/object/conditions.js';
import type { Condition } from '../../../lib/object/conditions.js';
import { Event } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { CustomResource } from '../../../lib/crd/index.js';
import type { Operator } from '../../../lib/operator/index.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, NewTarget, Operator as Writer } from '../../builder/suite/target.js';
import { isWrite } from '../../builder/suite/target.js';

interface Tenant extends KubernetesObject {
  spec: { replicas: number; env: Record<string, string> };
  status?: { conditions?: readonly Condition[] };
}

/** The exports of the README example. */
interface Example {
  readonly operator: Operator;
  readonly Tenant: CustomResource<Tenant, Tenant> & ResourceType<Tenant>;
}

const root = join(import.meta.dirname, '../../..');

/** Returns the first TypeScript block of the README. */
export async function readmeExample(): Promise<string> {
  const text = await readFile(join(root, 'README.md'), 'utf8');
  return /^```ts\n(.*?)^```$/ms.exec(text)?.[1] ?? '';
}

/** Loads the example as a module without its last line, which would run it on the user's cluster. */
export async function loadExample(): Promise<Example> {
  const run = 'await operator.run();\n';
  const example = await readmeExample();
  expect(example.endsWith(run)).to.equal(true);
  const code = example
    .replace(run, 'export { operator, Tenant };\n')
    .replaceAll(/'operator-builder(\/crd)?'/g, (_all, crd: string | undefined) =>
      JSON.stringify(pathToFileURL(join(root, `lib${crd ?? ''}/index.ts`)).href),
    );
  const folder = join(root, '.cache/readme');
  const file = join(folder, `operator-${process.pid}-${Date.now()}.ts`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, code);
  try {
    return (await import(pathToFileURL(file).href)) as Example;
  } finally {
    await rm(file, { force: true });
  }
}

/** Specs about the README example, unchanged, on the embedded and the real server. */
export function readmeSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let example: Example;
  let writer: Writer;
  let namespace: string;
  let reconciles = 0;
  let running: Promise<void>;
  const stop = new AbortController();

  before(async () => {
    [target, example] = await Promise.all([newTarget(), loadExample()]);
    const { clock, admin } = target;
    await ensureCrd(admin, example.Tenant.crd, clock instanceof VirtualClock ? {} : { clock });
    [writer, namespace] = await Promise.all([target.operator(), target.namespace()]);
    running = example.operator.run({
      ...{ client: writer.client, clock, signal: stop.signal, logger: silentLogger },
      rbacPreflight: 'off',
      cacheOptions: { namespaces: [namespace] },
      onEvent: ({ type }) => void (reconciles += type === 'reconciled' ? 1 : 0),
    });
  });

  after(async () => {
    stop.abort();
    await running;
    await target.close();
  });

  const key = (): { namespace: string; name: string } => ({ namespace, name: 'acme' });

  const change = (body: object): Promise<Tenant> =>
    target.admin.patch(example.Tenant, key(), { type: 'merge', body });

  const ready = (status: string): Promise<Condition> =>
    target.eventually(async () => {
      const tenant = await target.admin.get(example.Tenant, key());
      const found = findCondition(tenant.status?.conditions, 'Ready');
      const isNew = found?.observedGeneration === tenant.metadata.generation;
      if (found?.status === status && isNew) return found;
      throw new Error(`Ready is ${JSON.stringify(found)}, not ${status}`);
    });

  const events = async (type: string): Promise<readonly string[]> => {
    const { admin, clock } = target;
    // The recorder writes an Event a second after the reconcile.
    if (clock instanceof VirtualClock) await clock.advance(1_000);
    const { items } = await admin.list(Event, { namespace });
    return items
      .filter((event) => event.type === type && event.regarding?.kind === 'Tenant')
      .map(({ reason = '', note = '' }) => `${reason}: ${note}`);
  };

  /** Returns the requests without watches and those for Events. */
  const requests = async () =>
    (await writer.requests()).filter(
      ({ verb, resource }) => verb !== 'watch' && resource !== 'events',
    );

  it('the example is at most 25 lines long', async () => {
    expect((await readmeExample()).trimEnd().split('\n')).to.have.length.at.most(25);
  });

  it('the example creates four objects with four writes, and sends nothing while nothing changes', async () => {
    const spec = { replicas: 1, env: { GREETING: 'hello' } };
    const tenant = { apiVersion: 'example.com/v1', kind: 'Tenant', metadata: key(), spec };
    await target.admin.create<Tenant>(tenant);
    await ready('True');
    const written = (await requests()).filter(isWrite).map(({ resource }) => resource);
    expect(written.filter((resource) => resource !== 'tenants').sort()).to.deep.equal([
      ...['configmaps', 'poddisruptionbudgets', 'services', 'statefulsets'],
    ]);
    // Waits until the cluster's controllers are idle.
    await target.eventually(async () => {
      await requests();
      const before = reconciles;
      await change({ metadata: { annotations: { touched: `${before}` } } });
      await target.eventually(() => {
        expect(reconciles).to.be.above(before);
        return Promise.resolve();
      });
      expect(await requests()).to.deep.equal([]);
    });
  });

  it('the example restarts the pods when the configuration changes, and reports the cause in an Event', async () => {
    await change({ spec: { env: { GREETING: 'good morning' } } });
    await target.eventually(async () => {
      const configured = (await events('Normal')).filter((each) => each.startsWith('Configured'));
      expect(configured.join('\n')).to.contain(`(ConfigMap ${namespace}/env changed)`);
    });
    await ready('True');
  });

  it('the example reports a rejected object in Ready and in a Warning, with the message of the server', async () => {
    await change({ spec: { env: { 'not a key': '1' } } });
    const { reason, message } = await ready('False');
    expect(reason).to.equal('Invalid');
    expect(message).to.contain('data[not a key]: Invalid value');
    await target.eventually(async () => {
      expect((await events('Warning')).join('\n')).to.contain('data[not a key]: Invalid value');
    });
    await change({ spec: { env: { 'not a key': null } } });
    await ready('True');
  });
}
