import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import {
  OperatorResource,
  cleanUpAnnotation,
  operatorCrdAccess,
  operatorCrdController,
} from '../../../lib/declarative/crd/index.js';
import { Group } from '../../../lib/declarative/operator/index.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { eventually } from '../../../lib/testing/index.js';
import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { configMapOf, viewOf } from '../operator/group-scene.js';
import { operatorCrdSuite } from './operator-crd-suite.js';

describe('Operator objects', () => {
  operatorCrdSuite(embeddedTarget);
});

describe('An Operator object with the clean-up policy "delete"', () => {
  it('writes nothing while its targets cannot be recorded in its status', async () => {
    const clock = new VirtualClock();
    const cluster = await EmbeddedCluster.start({ clock, crds: [OperatorResource.crd] });
    const admin = cluster.client();
    const user = 'operator';
    const match = { user, resource: 'operators', subresource: 'status' };
    const fault = cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
    const namespace = 'default';
    const metadata = { name: 'a', namespace, labels: { of: 'Price' } };
    await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const controllers = [viewOf('Price', namespace), configMapOf('Price', 'price')];
    const annotations = { [cleanUpAnnotation]: 'delete' };
    await admin.create(
      OperatorResource.object({ metadata: { name: 'shop', annotations }, spec: { controllers } }),
    );
    const manager = await DeclarativeManager.create({ client: cluster.client({ user }), clock });
    const group = new Group({ manager });
    manager.add(operatorCrdController({ group }), { requires: operatorCrdAccess });
    const end = new AbortController();
    const running = group.start(end.signal);
    const made = async (): Promise<readonly string[]> => {
      const { items } = await admin.list(ConfigMap, { namespace, labelSelector: 'made=yes' });
      return items.map(({ metadata: { name = '' } }) => name);
    };
    const refusals = () =>
      cluster.requests.entries.filter((one) => one.user === user && one.subresource === 'status');
    await eventually(() => expect(refusals().length).to.be.above(3), { clock });
    expect(await made()).to.deep.equal([]);
    fault.remove();
    await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
    end.abort();
    await running;
    await cluster.stop();
  });
});
