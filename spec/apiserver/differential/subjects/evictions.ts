import { get, patch, post } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const pods = '/api/v1/namespaces/{{ns}}/pods';
const budgets = '/apis/policy/v1/namespaces/{{ns}}/poddisruptionbudgets';
const labels = { app: 'web' };
const running = { phase: 'Running' };
const ready = {
  ...running,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
};

function pod(name: string, status: object, metadata: object = { labels }): Request[] {
  return [
    post(pods, {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata } },
      spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 },
    }),
    patch('merge', `${pods}/${name}/status`, { status }),
  ];
}

function budget(name: string, status: object, spec: object = {}): Request[] {
  const selector = { matchLabels: labels };
  return [
    post(budgets, {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name } },
      spec: { selector, minAvailable: 1, ...spec },
    }),
    statusOf(name, status),
  ];
}

/** The required fields in the status of a PodDisruptionBudget. */
const needed = { observedGeneration: 1, currentHealthy: 0, desiredHealthy: 0, expectedPods: 3 };

function statusOf(name: string, status: object): Request {
  const body = { status: { ...needed, disruptionsAllowed: 0, ...status } };
  return patch('merge', `${budgets}/${name}/status`, body);
}

function evict(name: string, more: object = {}, query = ''): Request {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
  return post(`${pods}/${name}/eviction${query}`, { ...eviction, ...more });
}

const syncFailed = {
  ...{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'found no pods' },
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

/** Evictions of pods, with and without disruption budgets. */
export const evictions: readonly Scenario[] = [
  {
    title: 'evictions without a budget',
    requests: [
      ...pod('one', ready),
      evict('none'),
      evict('one', { metadata: { name: 'other' } }),
      evict('one', { metadata: { name: 'one', namespace: 'elsewhere' } }),
      evict('one', { kind: 'Pod' }),
      evict('one', { apiVersion: 'v1' }),
      evict('one', { deleteOptions: { preconditions: { uid: 'other' } } }),
      evict('one', { deleteOptions: { preconditions: { resourceVersion: '1' } } }),
      evict('one', { deleteOptions: { dryRun: ['Some'] } }),
      evict('one', { deleteOptions: { gracePeriodSeconds: -2 } }),
      evict('one', { deleteOptions: { propagationPolicy: 'Some' } }),
      evict('one', { deleteOptions: { dryRun: ['All'] } }),
      evict('one', {}, '?dryRun=All'),
      evict('one', {}, '?dryRun=Some'),
      evict('one', { deleteOptions: { dryRun: ['All'] } }, '?dryRun=All'),
      evict('one', { unknown: 1 }, '?fieldValidation=Strict'),
      get(`${pods}/one`),
      evict('one', { apiVersion: 'policy/v1beta1' }),
      get(`${pods}/one`),
      ...pod('one', ready),
      post(`${pods}/one/eviction`, {}),
      get(`${pods}/one`),
      ...pod('two', ready),
      post(`${pods}/two/eviction`, { metadata: {} }),
      ...pod('three', ready, { labels, finalizers: ['example.com/f'] }),
      evict('three'),
      get(`${pods}/three`),
      evict('three'),
      get(`${pods}/three/eviction`),
    ],
  },
  {
    title: 'evictions under a budget',
    requests: [
      ...pod('one', ready),
      ...pod('two', ready),
      ...pod('three', running),
      ...budget('small', { disruptionsAllowed: 1 }),
      evict('one', { deleteOptions: { dryRun: ['All'] } }),
      get(`${budgets}/small`),
      evict('one', { metadata: { name: 'other' } }),
      evict('one', { deleteOptions: { preconditions: { uid: 'other' } } }),
      get(`${budgets}/small`),
      statusOf('small', { disruptionsAllowed: 1 }),
      evict('one'),
      get(`${budgets}/small`),
      get(pods),
      evict('two'),
      evict('two', { deleteOptions: { dryRun: ['All'] } }),
      statusOf('small', { currentHealthy: 1, desiredHealthy: 2 }),
      evict('two'),
      statusOf('small', { currentHealthy: 2, desiredHealthy: 2 }),
      evict('two'),
      statusOf('small', { currentHealthy: 3, desiredHealthy: 2 }),
      evict('two'),
      statusOf('small', { currentHealthy: 3, desiredHealthy: 2, conditions: [syncFailed] }),
      evict('two'),
      statusOf('small', { disruptionsAllowed: 1, observedGeneration: 0 }),
      evict('two'),
      statusOf('small', { disruptionsAllowed: -1 }),
      evict('two'),
      statusOf('small', {}),
      evict('three'),
      statusOf('small', { currentHealthy: 1, desiredHealthy: 2 }),
      evict('three'),
      statusOf('small', { currentHealthy: 2, desiredHealthy: 2 }),
      evict('three', { deleteOptions: { dryRun: ['All'] } }),
      evict('three'),
      get(`${budgets}/small`),
      get(pods),
    ],
  },
  {
    title: 'evictions of pods that budgets do not count',
    requests: [
      ...budget('small', {}),
      ...budget('all', {}, { selector: {} }),
      ...pod('pending', { phase: 'Pending' }),
      evict('pending'),
      ...pod('succeeded', { phase: 'Succeeded' }),
      evict('succeeded'),
      ...pod('failed', { phase: 'Failed' }),
      evict('failed'),
      ...pod('leaving', ready, { labels, finalizers: ['example.com/f'] }),
      patch('merge', `${budgets}/all/status`, { status: { disruptionsAllowed: 5 } }),
      evict('leaving'),
      get(`${budgets}/all`),
      ...pod('other', ready, { labels: { app: 'other' } }),
      statusOf('all', { disruptionsAllowed: 1 }),
      evict('other'),
      get(`${budgets}/all`),
    ],
  },
  {
    title: 'evictions of unready pods under budgets that always allow them',
    requests: [
      ...pod('unready', running),
      ...pod('ready', ready),
      ...budget('always', {}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
      evict('ready'),
      evict('unready', { deleteOptions: { dryRun: ['All'] } }),
      evict('unready'),
      get(`${budgets}/always`),
      ...pod('again', running),
      ...budget('if', { disruptionsAllowed: 1 }, { unhealthyPodEvictionPolicy: 'IfHealthyBudget' }),
      evict('again'),
    ],
  },
];
