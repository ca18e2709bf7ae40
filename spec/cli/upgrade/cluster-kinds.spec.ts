import { expect } from 'chai';
import { controllerFor, done } from 'operator-builder';
import type { KubernetesObject, OperatorDefinition } from 'operator-builder';
import { defineResource, s } from 'operator-builder/crd';
import { Builder } from '../../../lib/builder/index.js';
import type { Client } from '../../../lib/client/index.js';
import { checkUpgrade } from '../../../lib/cli/upgrade/check-upgrade.js';
import type { UpgradeReport } from '../../../lib/cli/upgrade/upgrade-report.js';
import { describeObject } from '../../../lib/object/index.js';
import { silentLogger } from '../../../lib/system/index.js';

const Team = defineResource({
  ...{ group: 'teams.example', kind: 'Team', scope: 'Cluster' },
  versions: [{ name: 'v1', storage: true, schema: s.object({ spec: s.object({}) }) }],
});

type Reconcile = (owner: KubernetesObject, client: Client) => Promise<void>;

function teamOperator(reconcile: Reconcile): OperatorDefinition {
  const controller = controllerFor(Team).complete(async ({ key, client }) => {
    await reconcile(await client.get(Team, key), client);
    return done();
  });
  return { name: 'teams', resources: [Team], setup: (manager) => void manager.add(controller) };
}

interface SpaceOptions {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly prune?: boolean;
}

/** An operator that owns a namespace, with a ConfigMap in it. */
function spaceOperator({ name, labels, prune = true }: SpaceOptions): OperatorDefinition {
  return teamOperator(async (owner, client) => {
    const metadata = { name, ...(labels !== undefined && { labels }) };
    await new Builder({ client, owner, controllerName: 'team-operator' })
      .object({ apiVersion: 'v1', kind: 'Namespace', metadata }, { prune })
      .configMap({ name: 'team', namespace: name, data: {} })
      .reconcile();
  });
}

/** An operator that writes an object with another client than a builder. */
function writerOperator(write: (client: Client) => Promise<unknown>): OperatorDefinition {
  return teamOperator(async (_, client) => {
    await write(client);
  });
}

function check(from: OperatorDefinition, to: OperatorDefinition): Promise<UpgradeReport> {
  const team = {
    apiVersion: 'teams.example/v1',
    kind: 'Team',
    metadata: { name: 'red' },
    spec: {},
  };
  return checkUpgrade({
    ...{ from, to, resources: [team], namespace: 'default', logger: silentLogger },
    signal: new AbortController().signal,
  });
}

const found = ({ findings }: UpgradeReport): readonly string[] =>
  findings.map(({ type, ref }) => `${type} ${describeObject(ref)}`);

const changed = ({ changes }: UpgradeReport): readonly string[] =>
  changes.map(({ action, ref, changes: fields }) =>
    [action, describeObject(ref), ...fields.map(({ path }) => path)].join(' '),
  );

describe('checkUpgrade of an operator that writes Namespaces, Nodes and ServiceAccounts', () => {
  it('reports a renamed Namespace with the loss of all objects in it', async () => {
    const report = await check(
      spaceOperator({ name: 'red-dev' }),
      spaceOperator({ name: 'red-development' }),
    );
    expect(found(report)).to.deep.equal([
      'renamed Namespace red-dev',
      'pruned ConfigMap red-dev/team',
    ]);
    expect(report.findings[0]?.message).to.equal(
      'it is pruned with all objects in it, and Namespace red-development replaces it',
    );
    expect(report.findings[0]?.remedy).to.include('keep the name red-dev');
    expect(changed(report)).to.deep.equal(['create ConfigMap red-development/team']);
  });

  it('reports a pruned Namespace with the loss of all objects in it', async () => {
    const report = await check(
      spaceOperator({ name: 'red-dev' }),
      teamOperator(async (owner, client) => {
        await new Builder({ client, owner, controllerName: 'team-operator', maxDeletions: 5 })
          .configMap({ name: 'team', namespace: 'default', data: {} })
          .reconcile();
      }),
    );
    expect(found(report)).to.include('pruned Namespace red-dev');
    expect(report.findings[0]).to.include({
      message: 'it is pruned with all objects in it',
      remedy: 'keep it in the new version, or move all objects in it first',
    });
  });

  it('lists the changed labels of a Namespace, and a new Namespace', async () => {
    const from = spaceOperator({ name: 'red-dev', prune: false });
    const labelled = await check(from, spaceOperator({ name: 'red-dev', labels: { a: 'b' } }));
    expect(found(labelled)).to.deep.equal([]);
    expect(changed(labelled)[0]).to.match(/^configure Namespace red-dev .*metadata\.labels/);
    const kept = await check(from, spaceOperator({ name: 'red-development', prune: false }));
    expect(changed(kept)).to.include('create Namespace red-development');
  });

  it('lists changes of a Node and of a default ServiceAccount that the operator wrote', async () => {
    const labelled = (value: string) =>
      writerOperator(async (client) => {
        const body = { metadata: { labels: { team: value } } };
        const patch = { type: 'merge', body } as const;
        await client.patch({ apiVersion: 'v1', kind: 'Node' }, { name: 'node-0' }, patch);
        const account = { namespace: 'default', name: 'default' };
        await client.patch({ apiVersion: 'v1', kind: 'ServiceAccount' }, account, patch);
      });
    const report = await check(labelled('one'), labelled('two'));
    expect(changed(report)).to.have.members([
      'configure Node node-0 metadata.labels.team',
      'configure ServiceAccount default/default metadata.labels.team',
    ]);
  });
});
