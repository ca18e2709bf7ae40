import { expect } from 'chai';
import { Api } from '../api.js';
import { causeMessages } from '../causes.js';

const autoscalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';

async function problemsOf(apiVersion: string, kind: string): Promise<Record<string, string>> {
  const spec = { scaleTargetRef: { apiVersion, kind, name: 'd' }, maxReplicas: 2 };
  return causeMessages(
    await new Api().call('POST', autoscalers, { metadata: { name: 'one' }, spec }),
  );
}

describe('the scale targets of HorizontalPodAutoscalers', () => {
  const field = 'spec.scaleTargetRef.apiVersion';

  it('require a group in their apiVersion', async () => {
    expect(await problemsOf('apps/v1', 'Deployment')).to.deep.equal({});
    for (const version of ['v1', '/v1']) {
      expect(await problemsOf(version, 'Deployment')).to.deep.equal({
        [field]: `Invalid value: "${version}": apiVersion must specify API group`,
      });
    }
  });

  it('accept any version of a ReplicationController', async () => {
    expect(await problemsOf('v2', 'ReplicationController')).to.deep.equal({});
  });

  it('refuse an apiVersion with two slashes', async () => {
    for (const kind of ['Deployment', 'ReplicationController']) {
      expect(await problemsOf('a/b/c', kind)).to.deep.equal({
        [field]: 'Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      });
    }
  });
});

describe('updates of the status of PodDisruptionBudgets', () => {
  it('require valid conditions and no negative numbers', async () => {
    const api = new Api();
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    const { body } = await api.call('POST', budgets, { metadata: { name: 'one' }, spec: {} });
    const conditions = [{ type: 'DisruptionAllowed', status: 'Yes', reason: '', message: '' }];
    const status = { conditions, expectedPods: -1 };
    const answer = await api.call('PUT', `${budgets}/one/status`, { ...body, status });
    expect(causeMessages(answer)).to.deep.equal({
      'status.conditions[0].status':
        'Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
      'status.conditions[0].lastTransitionTime': 'Required value',
      'status.conditions[0].reason': 'Required value',
      'status.expectedPods': 'Invalid value: -1: must be greater than or equal to 0',
    });
  });
});
