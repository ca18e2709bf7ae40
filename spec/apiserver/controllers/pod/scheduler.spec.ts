import { expect } from 'chai';
import { Pod } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { pod } from '../workload-objects.js';

describe('the simulated scheduler', () => {
  afterEach(() => stopSimulatedClusters(/pods\/binding|denied/));

  it('does not bind a pod if an admission policy refuses the binding, and reports the refusal in a condition of the pod', async () => {
    const { create, get } = await simulatedCluster();
    const head = { apiVersion: 'admissionregistration.k8s.io/v1' };
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'] };
    await create(
      {
        ...{ ...head, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'a' } },
        spec: {
          matchConstraints: { resourceRules: [{ ...rule, resources: ['pods/binding'] }] },
          validations: [{ expression: 'object.metadata.name != "refused"' }],
        },
      } as never,
      {
        ...{ ...head, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'a' } },
        spec: { policyName: 'a', validationActions: ['Deny'] },
      } as never,
    );
    await create(pod('bound'), pod('refused'));
    expect((await get(Pod, 'bound')).spec?.nodeName).to.be.a('string');
    const { spec, status } = await get(Pod, 'refused');
    expect(spec?.nodeName).to.equal(undefined);
    const [condition] = status?.conditions ?? [];
    expect(condition).to.include({ type: 'PodScheduled', reason: 'SchedulerError' });
    expect(condition?.message).to.include('denied request');
  });
});
