import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { Schema } from '../../../lib/object/schema.js';
import type { Api } from '../api.js';

export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const widgets = '/apis/example.com/v1/namespaces/default/widgets';

const specSchema: Schema = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 9 },
    color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
    code: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
    note: { type: 'string', nullable: true, default: 'none' },
    hint: { type: 'string', default: 'none' },
    port: { 'x-kubernetes-int-or-string': true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    since: { type: 'string', format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
      },
    },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    either: {
      type: 'object',
      properties: { left: { type: 'string' }, right: { type: 'string' } },
      oneOf: [{ required: ['left'] }, { required: ['right'] }],
    },
  },
};

const statusSchema: Schema = {
  type: 'object',
  properties: {
    phase: { type: 'string' },
    replicas: { type: 'integer' },
    selector: { type: 'string' },
  },
};

/** Version `v1` of Widget, with every kind of field in a schema. */
export const version = {
  name: 'v1',
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: specSchema, status: statusSchema } },
  },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
  ],
  selectableFields: [{ jsonPath: '.spec.color' }],
};

const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] };

/** The CRD of widgets.example.com. */
export function widgetCrd(spec: object = {}, name = 'widgets.example.com'): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: { group: 'example.com', names, scope: 'Namespaced', versions: [version], ...spec },
  };
}

export function widget(name: string, spec: object = {}, more: object = {}): object {
  const metadata = { name };
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata,
    spec: { size: 1, ...spec },
    ...more,
  };
}

/** Creates the CRD, and returns it as stored. */
export async function installed(api: Api, spec: object = {}): Promise<UnstructuredObject> {
  await api.create(crds, widgetCrd(spec));
  return (await api.get(`${crds}/widgets.example.com`)).body;
}
