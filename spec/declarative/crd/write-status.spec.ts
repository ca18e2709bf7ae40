import { expect } from 'chai';
import type { Client } from '../../../lib/client/client.js';
import { OperatorResource } from '../../../lib/declarative/crd/operator-resource.js';
import type { OperatorStatus } from '../../../lib/declarative/crd/operator-resource.js';
import { EmbeddedCluster } from '../../../lib/apiserver/cluster/embedded-cluster.js';
import { whenEstablished } from '../../../lib/apiserver/cluster/established.js';
import type { Condition } from '../../../lib/object/conditions.js';
import type { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { formatTime } from '../../../lib/object/micro-time.js';
import { StatusWriter } from '../../../lib/status/index.js';
import type { WrittenStatus } from '../../../lib/status/index.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const clock = new VirtualClock();
const condition: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: 'it runs',
  observedGeneration: 1,
  lastTransitionTime: formatTime(clock.now()),
};
const controller = { name: 'one', conditions: [condition], lastErrors: ['an error'] };
const status: OperatorStatus = {
  observedGeneration: 1,
  conditions: [condition],
  controllers: [{ ...controller, target: { kind: 'View', type: 'Updater' } }],
};

/** A CRD whose status schema has only names, conditions and errors of controllers. */
function lesserDefinition(): CustomResourceDefinition {
  const text = { type: 'string' };
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const properties = {
    name: text,
    conditions: { type: 'array', items: anything },
    lastErrors: { type: 'array', items: text },
  };
  const controllers = { type: 'array', items: { type: 'object', properties } };
  const lesser = { type: 'object', required: ['controllers'], properties: { controllers } };
  const openAPIV3Schema = { type: 'object', properties: { spec: anything, status: lesser } };
  const { crd } = OperatorResource;
  const [version] = crd.spec.versions;
  const versions = [{ ...version, schema: { openAPIV3Schema } }];
  return { ...crd, spec: { ...crd.spec, versions } } as unknown as CustomResourceDefinition;
}

describe('The status of an Operator object', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    client = cluster.client();
  });
  afterEach(() => cluster.stop());

  async function operatorBy(definition: CustomResourceDefinition): Promise<OperatorResource> {
    await client.create(definition);
    await whenEstablished(client, definition);
    const sources = [{ apiGroup: '', kind: 'Pod' }];
    const controllers = [{ name: 'one', sources, target: { kind: 'View' } }];
    return client.create(
      OperatorResource.object({ metadata: { name: 'shop' }, spec: { controllers } }),
    );
  }
  const signal = new AbortController().signal;

  function writing(): (operator: OperatorResource) => Promise<WrittenStatus<OperatorResource>> {
    const writer = new StatusWriter<OperatorResource>({
      ...{ type: OperatorResource, fieldManager: 'shop', strategy: 'apply', generation: false },
      ...{ optional: ['controllers[].target'], remedy: '' },
    });
    const { conditions = [], ...fields } = status;
    const context = { client, clock, signal, logger: silentLogger };
    return (operator) => writer.write(operator, { conditions, fields }, { context });
  }

  it('is written completely if the cluster has our CRD', async () => {
    const operator = await operatorBy(OperatorResource.crd);
    const written = await writing()(operator);
    expect(written.object.status).to.deep.equal(status);
  });

  it('is written without the fields that the CRD in the cluster lacks, and is then not written again', async () => {
    const operator = await operatorBy(lesserDefinition());
    const write = writing();
    const { object } = await write(operator);
    expect(object.status).to.deep.equal({ controllers: [controller] });
    const again = await write(object);
    expect(again.object.metadata.resourceVersion).to.equal(object.metadata.resourceVersion);
  });

  it('is not written for a deleted object', async () => {
    const operator = await operatorBy(OperatorResource.crd);
    await client.delete(OperatorResource, { name: 'shop' });
    expect((await writing()(operator)).object).to.equal(operator);
  });
});
