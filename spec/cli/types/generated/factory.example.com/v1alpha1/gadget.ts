// Made by `operator-builder types` from gadgets.factory.example.com. Do not edit.
import type { ResourceType } from 'operator-builder';
import { defineResource, s, type CustomResource, type Schema } from 'operator-builder/crd';
import type { ObjectMeta } from 'operator-builder/types';

export interface Gadget {
  apiVersion: 'factory.example.com/v1alpha1';
  kind: 'Gadget';
  metadata: ObjectMeta;
  spec?: GadgetSpec;
  [field: string]: unknown;
}

export interface GadgetSpec {
  model?: string;
}

const schema: Schema = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    spec: {
      type: 'object',
      properties: {
        model: {
          type: 'string',
        },
      },
    },
  },
};

type Fields = Omit<Gadget, 'apiVersion' | 'kind' | 'metadata' | 'status'>;
type Input = Omit<Gadget, 'apiVersion' | 'kind' | 'status'>;

/** The kind Gadget of factory.example.com/v1alpha1, for watches, clients, validation and tests. */
export const Gadget = defineResource({
  group: 'factory.example.com',
  kind: 'Gadget',
  plural: 'gadgets',
  singular: 'gadget',
  listKind: 'GadgetList',
  scope: 'Namespaced',
  shortNames: ['gd'],
  versions: [
    {
      name: 'v1alpha1',
      schema: s.typed<Fields>(schema),
      deprecated: true,
    },
  ],
}) as CustomResource<Gadget, Input> & ResourceType<Gadget>;
