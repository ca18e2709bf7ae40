import { apply, get, patch, post, put } from '../scenario.js';
import type { Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const group = '{{ns}}.example.com';
const text = { type: 'string' };
const texts = { type: 'array', items: text };

/** Versions of a kind with the same fields, except for `added`. Lists that are atomic in v1 are sets in v2. */
const version = (name: 'v1' | 'v2'): Body => ({
  ...{ name, served: true, storage: name === 'v1' },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            replicas: { type: 'integer' },
            list: { ...texts, ...(name === 'v2' && { 'x-kubernetes-list-type': 'set' }) },
            ...(name === 'v2' && { added: { ...text, default: 'new' } }),
          },
        },
        status: { type: 'object', properties: { replicas: { type: 'integer' } } },
      },
    },
  },
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
});

const definition = {
  metadata: { name: `widgets.${group}` },
  spec: {
    ...{ group, scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
    versions: [version('v1'), version('v2')],
  },
};

const widgets = (name: 'v1' | 'v2'): string => `/apis/${group}/${name}/namespaces/{{ns}}/widgets`;
const widget = (name: 'v1' | 'v2', more: Body = {}): Body => ({
  ...{ apiVersion: `${group}/${name}`, kind: 'Widget', metadata: { name: 'one' } },
  ...more,
});
/** A Widget with other metadata. */
const labelled = (name: 'v1' | 'v2', meta: Body): Body =>
  widget(name, { metadata: { name: 'one', ...meta } });
const [one, two] = [`${widgets('v1')}/one`, `${widgets('v2')}/one`];
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'one' } };

const autoscalers = (name: 'v1' | 'v2'): string =>
  `/apis/autoscaling/${name}/namespaces/{{ns}}/horizontalpodautoscalers`;
const autoscaler = (name: 'v1' | 'v2', more: Body): Body => ({
  ...{ apiVersion: `autoscaling/${name}`, kind: 'HorizontalPodAutoscaler' },
  ...{ metadata: { name: 'one' }, ...more },
});
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const [autoscalerV1, autoscalerV2] = [`${autoscalers('v1')}/one`, `${autoscalers('v2')}/one`];

/** Writes of several managers through several versions of a kind. */
export const versions: readonly Scenario[] = [
  {
    title: 'managers of a custom resource in two versions',
    requests: [
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
      get(widgets('v1'), { whileStatus: 404 }),
      get(widgets('v2'), { whileStatus: 404 }),
      apply('a', one, widget('v1', { spec: { list: ['x'], replicas: 1 } })),
      // This apply changes nothing, so the object gets no defaults of v2.
      apply('a', two, widget('v2', { spec: { list: ['x'], replicas: 1 } })),
      apply('b', two, widget('v2', { spec: { list: ['x', 'y'] } })),
      // The manager `c` owns a field that v1 does not have, while others write through v1.
      apply('c', two, widget('v2', { spec: { added: 'z' } })),
      apply('a', one, widget('v1', { spec: { list: ['x', 'x'] } }), true),
      patch('merge', `${one}?fieldManager=d`, { spec: { list: ['x', 'x'] } }),
      patch('merge', `${two}?fieldManager=e&dryRun=All`, { spec: { added: 'z' } }),
      patch('merge', `${two}?fieldManager=e`, { spec: { added: 'z', replicas: 2 } }),
      // The stored list already has duplicate items, which v2 forbids.
      patch('merge', `${two}?fieldManager=e`, { spec: { list: ['y', 'y', 'z'] } }),
      get(two),
      apply('f', `${two}/scale`, scale),
      apply('f', `${one}/scale`, { ...scale, spec: { replicas: 2 } }),
      put(`${two}/scale?fieldManager=g`, { ...scale, spec: { replicas: 3 } }),
      put(`${two}/scale?fieldManager=g`, { ...scale, spec: { replicas: 3 } }),
      get(one),
      apply('a', `${two}/status`, widget('v2', { status: { replicas: 1 } })),
      apply('a', two, widget('v2', { status: { replicas: 2 } })),
      apply('a', one, widget('v1', { status: { replicas: 2 } })),
      apply('kubectl', two, widget('v2')),
    ],
  },
  {
    title: 'empty metadata and nulls in two versions',
    requests: [
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
      get(widgets('v1'), { whileStatus: 404 }),
      get(widgets('v2'), { whileStatus: 404 }),
      post(`${widgets('v1')}?fieldManager=a`, labelled('v1', { labels: { l: 'x' } })),
      // An apply that changes nothing sets no defaults of v2, but an apply with empty metadata does.
      ...[{ labels: {} }, { annotations: {} }, { finalizers: [] }].flatMap((empty) =>
        (['v2', 'v2', 'v1', 'v2'] as const).map((name) =>
          apply('b', `${widgets(name)}/one`, labelled(name, empty)),
        ),
      ),
      // The storage version keeps the null, so that the next write through any version is a change.
      ...(['v1', 'v1', 'v2', 'v2'] as const).map((name) =>
        apply('c', `${widgets(name)}/one/status`, widget(name, { status: null })),
      ),
      apply('c', `${one}/status`, widget('v1', { status: null })),
      patch('merge', `${two}?fieldManager=d`, {}),
      patch('merge', `${two}?fieldManager=d`, {}),
    ],
  },
  {
    title: 'bodies of another kind',
    requests: [
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
      get(widgets('v1'), { whileStatus: 404 }),
      post(widgets('v1'), widget('v1'), { as: 'made' }),
      ...['WidgetList', 'Other'].flatMap((kind) =>
        [
          ...[{}, { name: 'one' }, { name: 'other' }, { name: 'one', resourceVersion: '1' }],
          { name: 'one', resourceVersion: '{{made.metadata.resourceVersion}}' },
        ].flatMap((metadata) => {
          const body = { ...widget('v1'), kind, metadata, items: [widget('v1')] };
          return [put(one, body), put(`${widgets('v1')}/none`, body), post(widgets('v1'), body)];
        }),
      ),
      patch('merge', one, { kind: 'Other', items: [] }),
    ],
  },
  {
    title: 'managers of an autoscaler in two versions',
    requests: [
      post(
        `${autoscalers('v1')}?fieldManager=a`,
        autoscaler('v1', { spec: { scaleTargetRef: target, maxReplicas: 3 } }),
      ),
      apply('b', autoscalerV1, autoscaler('v1', { spec: { minReplicas: 2 } }), true),
      apply('c', autoscalerV2, autoscaler('v2', { spec: { minReplicas: 2 } })),
      apply('c', autoscalerV1, autoscaler('v1', { metadata: { name: 'one', annotations: null } })),
      apply('b', autoscalerV2, autoscaler('v2', { metadata: { name: 'one', labels: { l: 'm' } } })),
      apply(
        'b',
        autoscalerV2,
        autoscaler('v2', { spec: { behavior: { scaleUp: { selectPolicy: 'Disabled' } } } }),
      ),
      get(autoscalerV1),
      patch('merge', `${autoscalerV1}?fieldManager=c`, { spec: { maxReplicas: 5 } }),
      apply('b', autoscalerV1, autoscaler('v1', {})),
      get(autoscalerV2),
    ],
  },
];
