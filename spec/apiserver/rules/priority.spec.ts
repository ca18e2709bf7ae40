import { expect } from 'chai';
import { Api } from '../api.js';
import { causeFields, causeMessages } from '../causes.js';

const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
const pods = '/api/v1/namespaces/default/pods';

function priorityClass(name: string, value: number, fields: object = {}): object {
  const head = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' };
  return { ...head, metadata: { name }, value, ...fields };
}

function pod(spec: object, metadata: object = { name: 'one' }): object {
  const containers = [{ name: 'main', image: 'app:1' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } };
}

describe('PriorityClasses', () => {
  it('include those of the system from the start', async () => {
    const { body } = await new Api().call('GET', classes);
    const found = body.items.map(({ metadata, ...rest }) => [metadata.name, rest['value']]);
    expect(Object.fromEntries(found)).to.deep.equal({
      'system-cluster-critical': 2_000_000_000,
      'system-node-critical': 2_000_001_000,
    });
  });

  it('cannot be deleted if they belong to the system', async () => {
    const answer = await new Api().call('DELETE', `${classes}/system-node-critical`);
    expect(answer.code).to.equal(403);
    expect(answer.body.message).to.equal(
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    );
  });

  it('must not have a name that begins with system-', async () => {
    const answer = await new Api().call('POST', classes, priorityClass('system-own', 5));
    expect(causeFields(answer)).to.deep.equal(['metadata.name']);
    expect(causeMessages(answer)['metadata.name']).to.contain(
      'system-own is not a known system priority class',
    );
  });

  it('with globalDefault are refused if another class is already the global default', async () => {
    const api = new Api();
    await api.create(classes, priorityClass('normal', 5, { globalDefault: true }));
    const second = priorityClass('other', 6, { globalDefault: true });
    const answer = await api.call('POST', classes, second);
    expect(answer.code).to.equal(403);
    expect(answer.body.message).to.equal(
      'priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass normal is already marked as default. Only one default can exist',
    );
    const { body } = await api.call('POST', pods, pod({}));
    expect(body['spec']).to.include({ priority: 5, priorityClassName: 'normal' });
  });

  it('report an empty preemptionPolicy as a required value', async () => {
    const answer = await new Api().call(
      'POST',
      classes,
      priorityClass('own', 5, { preemptionPolicy: '' }),
    );
    expect(causeMessages(answer)).to.deep.equal({ preemptionPolicy: 'Required value' });
  });

  it('require a valid preemptionPolicy in pod templates as well', async () => {
    const problems = async (preemptionPolicy: string): Promise<Record<string, string>> => {
      const template = {
        spec: { containers: [{ name: 'main', image: 'app:1' }], preemptionPolicy },
      };
      const path = '/api/v1/namespaces/default/podtemplates';
      return causeMessages(
        await new Api().call('POST', path, { metadata: { name: 'one' }, template }),
      );
    };
    const field = 'template.spec.preemptionPolicy';
    expect(await problems('')).to.deep.equal({ [field]: 'Required value' });
    expect(await problems('x')).to.deep.equal({
      [field]: 'Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"',
    });
    expect(await problems('Never')).to.deep.equal({});
  });

  it('set the priority and the preemption policy of pods', async () => {
    const api = new Api();
    await api.create(classes, priorityClass('batch', 7, { preemptionPolicy: 'Never' }));
    const { body } = await api.call('POST', pods, pod({ priorityClassName: 'batch' }));
    expect(body['spec']).to.include({ priority: 7, preemptionPolicy: 'Never' });
  });

  it('must exist: the refusal of a pod with an unknown class names the pod by its generateName', async () => {
    const generateName = 'web-';
    const given = pod({ priorityClassName: 'none' }, { generateName });
    const answer = await new Api().call('POST', pods, given);
    expect(answer.code).to.equal(403);
    expect(answer.body.message).to.equal(
      'pods "web-" is forbidden: no PriorityClass with name none was found',
    );
  });
});
