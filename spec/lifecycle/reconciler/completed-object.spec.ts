import { expect } from 'chai';
import { completedObject } from '../../../lib/lifecycle/reconciler/survey.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

const labels = { 'app.kubernetes.io/part-of': 'shop' };
const plain = { apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'a' } };
const labelled = { ...plain, metadata: { name: 'a', labels } };

function object(members: object, kind = 'Thing'): UnstructuredObject {
  return { apiVersion: 'example.com/v1', kind, metadata: { name: 'thing' }, ...members };
}

describe('a completed object', () => {
  it('has an unchanged template when there are no labels to add', () => {
    const thing = object({ spec: { template: { size: 1 } } });
    expect(completedObject(thing, plain)).to.deep.equal(thing);
    expect(completedObject(thing, labelled)).to.deep.include({
      spec: { template: { size: 1, metadata: { labels } } },
    });
  });

  it('keeps a Secret without stringData, and encodes stringData into data', () => {
    const secret = { ...object({}, 'Secret'), apiVersion: 'v1' };
    expect(completedObject(secret, plain)).to.deep.equal(secret);
    const filled = { ...secret, data: { token: 'eA==' } };
    expect(completedObject(filled, plain)).to.deep.equal(filled);
    const texts = { ...secret, stringData: { token: 'x' } };
    expect(completedObject(texts, plain)).to.deep.equal(filled);
    const foreign = object({ stringData: { token: 'x' } }, 'Secret');
    expect(completedObject(foreign, plain)).to.deep.equal(foreign);
  });

  it('keeps a label of the Pod template that its selector uses, instead of the common one', () => {
    const own = { 'app.kubernetes.io/part-of': 'web' };
    const spec = { selector: { matchLabels: own }, template: { metadata: { labels: own } } };
    expect(completedObject(object({ spec }, 'Deployment'), labelled)).to.deep.equal({
      ...object({ spec }, 'Deployment'),
      metadata: { name: 'thing', labels },
    });
  });

  it('has the common labels in the Pod template of a CronJob, if there is a Pod template', () => {
    const cron = (jobTemplate: object) => object({ spec: { jobTemplate } }, 'CronJob');
    const whole = { spec: { backoffLimit: 1, template: { metadata: { name: 'a' }, spec: {} } } };
    expect(completedObject(cron(whole), labelled)).to.deep.include({
      spec: {
        jobTemplate: {
          spec: { backoffLimit: 1, template: { metadata: { name: 'a', labels }, spec: {} } },
        },
      },
    });
    for (const partial of [{}, { spec: {} }]) {
      expect(completedObject(cron(partial), labelled)).to.deep.include({
        spec: { jobTemplate: partial },
      });
    }
  });

  it('contains no metadata that only the server sets', () => {
    const own = { name: 'thing', namespace: 'shop', finalizers: ['example.com/held'] };
    const metadata = {
      ...{ ...own, uid: 'x', resourceVersion: '1', generation: 1, selfLink: '/x' },
      ...{ creationTimestamp: 'x', deletionTimestamp: 'x', deletionGracePeriodSeconds: 1 },
      managedFields: [],
    };
    expect(completedObject({ ...object({}), metadata }, plain).metadata).to.deep.equal(own);
  });

  it('contains no status, and no rules if the ClusterRole is aggregated', () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { of: 'shop' } }] };
    const role = object({ aggregationRule, rules: [], status: {} }, 'ClusterRole');
    expect(completedObject(role, plain)).to.deep.equal(object({ aggregationRule }, 'ClusterRole'));
    const own = object({ rules: [] }, 'ClusterRole');
    expect(completedObject(own, plain)).to.deep.equal(own);
  });
});
