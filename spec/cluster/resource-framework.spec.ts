import { expect } from 'chai';
import { ensureCrd } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { CustomResourceDefinition } from '../../lib/object/kinds.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashCluster } from '../../lib/testing/crash-points/crash-scenario.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { gadgetScenario } from '../resource/framework/suite/crash-scenarios.js';
import { crdOf, group } from '../resource/framework/suite/gadget.js';
import { frameworkSuite } from '../resource/framework/suite/framework-suite.js';
import { clusterTarget } from './cluster-target.js';
import { crashNamespace } from './crash-namespace.js';
import { expectSameEnd } from './expect-same-end.js';

describe('ensureCrd on a real API server', () => {
  const opened: BuilderTarget[] = [];
  after(() => Promise.all(opened.map((target) => target.close())));

  it("fails at once with the server's reason when another definition has the names, and deletes nothing", async () => {
    const target = await clusterTarget();
    opened.push(target);
    const { admin } = target;
    const crd = crdOf('Gadget');
    await ensureCrd(admin, crd);
    const operator = await target.operator();
    const name = `widgets.${group}`;
    const names = { ...crd.spec.names, plural: 'widgets' };
    const taken = { ...crd, metadata: { name }, spec: { ...crd.spec, names } };
    const error = await ensureCrd(operator.client, taken, { timeoutMs: 600_000 }).catch(
      (thrown: unknown) => thrown,
    );
    try {
      expect(isOperatorError(error, 'InvalidObject')).to.equal(true);
      expect(String(error)).to.match(/is not served: \w+Conflict: .*already in use/);
      await admin.get(CustomResourceDefinition, { name });
    } finally {
      await admin.delete(CustomResourceDefinition, { name });
    }
  });

  it('fails while another definition has the names, and corrects the definition when it has other names', async () => {
    const target = await clusterTarget();
    opened.push(target);
    const { admin } = target;
    const crd = crdOf('Gadget');
    await ensureCrd(admin, crd);
    const name = `things.${group}`;
    const named = (kind: string): CustomResourceDefinition => {
      const names = { plural: 'things', singular: 'thing', kind, listKind: `${kind}List` };
      return { ...crd, metadata: { name }, spec: { ...crd.spec, names } };
    };
    const options = { timeoutMs: 600_000 };
    try {
      for (const turn of ['first', 'second']) {
        const error = await ensureCrd(admin, named('Gadget'), options).catch(
          (thrown: unknown) => thrown,
        );
        expect(isOperatorError(error, 'InvalidObject'), turn).to.equal(true);
      }
      const { status } = await ensureCrd(admin, named('Thing'), options);
      expect(status?.acceptedNames?.kind).to.equal('Thing');
    } finally {
      await admin.delete(CustomResourceDefinition, { name });
    }
  });

  it('sends one read and no write when the definition is up to date', async () => {
    const target = await clusterTarget();
    opened.push(target);
    await ensureCrd(target.admin, crdOf('Gadget'));
    const operator = await target.operator();
    await ensureCrd(operator.client, crdOf('Gadget'));
    expect((await operator.requests()).map(({ verb }) => verb)).to.deep.equal(['get']);
  });
});

describe('a framework built on ResourceBuilder, on a real API server', () => {
  frameworkSuite(clusterTarget);
});

const sample = { count: 10, seed: 5 };

describe('a framework built on ResourceBuilder, on a real API server, killed at some of its requests', function () {
  this.timeout(240_000);
  let target: BuilderTarget;
  let operator: Client;

  before(async () => {
    target = await clusterTarget();
    operator = (await target.operator()).client;
  });
  after(() => target.close());

  it('converges to the state that it reaches without a kill', async () => {
    const scenario: CrashScenario<CrashCluster> = {
      ...gadgetScenario<CrashCluster>(),
      ...{ timeoutMs: 60_000, cluster: () => crashNamespace(target, operator) },
    };
    await expectSameEnd(scenario, sample);
  });
});
