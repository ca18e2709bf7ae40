import { expect } from 'chai';
import omit from 'lodash/omit.js';
import type { Client } from '../../lib/client/index.js';
import { Namespace } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import type { CrashCluster } from '../../lib/testing/crash-points/crash-scenario.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { rolloutScenario } from '../declarative/suite/crash-scenario.js';
import { clusterTarget } from './cluster-target.js';
import { crashNamespace } from './crash-namespace.js';
import { expectSameEnd } from './expect-same-end.js';

/** Ignores the writes of workload controllers, whose number varies. */
function comparable({ metadata, ...content }: UnstructuredObject): UnstructuredObject {
  const { annotations = {}, managedFields = [] } = metadata;
  const others = Object.entries(annotations).filter(([name]) => name !== revision);
  return {
    ...content,
    metadata: {
      ...omit(metadata, 'namespace'),
      annotations: Object.fromEntries(others),
      managedFields: managedFields.filter(({ manager = '' }) => manager.startsWith('shop/')),
    },
    status: undefined,
  };
}

const revision = 'deployment.kubernetes.io/revision';

describe('a declarative operator on a real API server, killed at some of its requests', function () {
  this.timeout(120_000);
  const namespaces: string[] = [];
  let target: BuilderTarget;
  let operator: Client;

  before(async () => {
    target = await clusterTarget();
    operator = (await target.operator()).client;
  });

  after(async () => {
    try {
      await target.eventually(async () => {
        const { items } = await target.admin.list(Namespace);
        const names = items.map(({ metadata }) => metadata.name ?? '');
        expect(names.filter((name) => namespaces.includes(name))).to.deep.equal([]);
      });
    } finally {
      await target.close();
    }
  });

  it('converges to the state that it reaches without a kill, with a view, an Updater that reads it, and a Patcher', async () => {
    const cluster = async (): Promise<CrashCluster> => {
      const made = await crashNamespace(target, operator);
      namespaces.push(made.namespace ?? '');
      return made;
    };
    const scenario = { ...rolloutScenario<CrashCluster>(), comparable, timeoutMs: 60_000, cluster };
    await expectSameEnd(scenario, { count: 6, seed: 7 });
  });
});
