// Made by `operator-builder types` from gadgets.factory.example.com. Do not edit.
import type { ResourceType } from 'operator-builder';
import { defineResource, s, type CustomResource, type Schema } from 'operator-builder/crd';
import type { ObjectMeta } from 'operator-builder/types';

/**
 * A Gadget is built by the factory.
 *
 * It has a second paragraph, which is long enough that the generator has to wrap it at the right
 * margin.
 */
export interface Gadget {
  apiVersion: 'factory.example.com/v1';
  kind: 'Gadget';
  metadata: ObjectMeta;
  /** The order for the factory. */
  spec: GadgetSpec;
  status?: GadgetStatus;
}

/** The order for the factory. */
export interface GadgetSpec {
  /** The model's name, without *\/ in it. */
  model: string;
  replicas?: number;
  size?: 1 | 2 | 5;
  mode?: 'Fast' | 'Careful';
  finish?:
    'BrushedAluminium' | 'PolishedStainlessSteel' | 'TransparentPolycarbonate' | 'UntreatedOak';
  port?: number | string;
  tags?: string[];
  grades?: ('A' | 'B')[];
  labels?: Record<string, string>;
  settings?: Record<string, unknown>;
  template?: GadgetSpecTemplate;
  comment?: string | null;
  tone?: 'Warm' | 'Cold' | null;
  shade?: 'Dark' | null;
  /**
   * Fields with the names of members of every object,
   * and a description with characters that linters refuse.
   */
  words?: GadgetSpecWords;
  enabled?: boolean;
  weight?: number;
  /** Fields with the names of keywords. */
  origin?: GadgetSpecOrigin;
  anything?: unknown;
  supplier: GadgetSpecSupplier;
  parts?: GadgetSpecParts[];
}

export interface GadgetSpecTemplate {
  apiVersion: string;
  kind: string;
  metadata?: Record<string, unknown>;
  [field: string]: unknown;
}

/**
 * Fields with the names of members of every object,
 * and a description with characters that linters refuse.
 */
export interface GadgetSpecWords {
  constructor?: string;
  toString?: string[];
  hasOwnProperty?: GadgetSpecWordsHasOwnProperty;
}

export interface GadgetSpecWordsHasOwnProperty {
  valueOf?: number;
}

/** Fields with the names of keywords. */
export interface GadgetSpecOrigin {
  title?: string;
  description?: string;
  properties?: GadgetSpecOriginProperties;
}

export interface GadgetSpecOriginProperties {
  description?: string;
}

export interface GadgetSpecSupplier {
  name: string;
  'contract-id'?: string;
}

export interface GadgetSpecParts {
  name: string;
  Name?: GadgetSpecPartsName;
  limits?: Record<string, number>;
}

export interface GadgetSpecPartsName {
  first?: string;
}

export interface GadgetStatus {
  replicas?: number;
  conditions?: GadgetStatusConditions[];
}

export interface GadgetStatusConditions {
  type: string;
  status: 'True' | 'False' | 'Unknown';
}

const schema: Schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['model', 'supplier'],
      'x-kubernetes-validations': [
        {
          rule: "self.model != 'none' || self.replicas == 0",
          message: 'a gadget without a model has no replicas',
        },
      ],
      properties: {
        model: {
          type: 'string',
          minLength: 1,
          pattern:
            '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]*[a-z0-9])?)*$',
        },
        replicas: {
          type: 'integer',
          default: 1,
          minimum: 0,
        },
        size: {
          type: 'integer',
          enum: [1, 2, 5],
        },
        mode: {
          type: 'string',
          enum: ['Fast', 'Careful'],
          default: 'Careful',
        },
        finish: {
          type: 'string',
          enum: [
            'BrushedAluminium',
            'PolishedStainlessSteel',
            'TransparentPolycarbonate',
            'UntreatedOak',
          ],
        },
        port: {
          'x-kubernetes-int-or-string': true,
          anyOf: [
            {
              type: 'integer',
            },
            {
              type: 'string',
            },
          ],
        },
        tags: {
          type: 'array',
          items: {
            type: 'string',
          },
          'x-kubernetes-list-type': 'set',
        },
        grades: {
          type: 'array',
          items: {
            type: 'string',
            enum: ['A', 'B'],
          },
        },
        labels: {
          type: 'object',
          additionalProperties: {
            type: 'string',
          },
        },
        settings: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
        },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        comment: {
          type: 'string',
          nullable: true,
        },
        tone: {
          type: 'string',
          nullable: true,
          allOf: [
            {
              enum: ['Warm', 'Cold'],
            },
          ],
        },
        shade: {
          type: 'string',
          nullable: true,
          enum: ['Dark', null],
        },
        words: {
          type: 'object',
          properties: {
            constructor: {
              type: 'string',
            } satisfies Schema,
            toString: {
              type: 'array',
              items: {
                type: 'string',
              },
            } satisfies Schema,
            hasOwnProperty: {
              type: 'object',
              properties: {
                valueOf: {
                  type: 'integer',
                } satisfies Schema,
              },
            } satisfies Schema,
          },
        },
        enabled: {
          type: 'boolean',
        },
        weight: {
          type: 'number',
        },
        origin: {
          type: 'object',
          default: {
            title: 'home',
          },
          allOf: [
            {
              properties: {
                description: {
                  maxLength: 9,
                },
              },
            },
          ],
          properties: {
            title: {
              type: 'string',
            },
            description: {
              type: 'string',
            },
            properties: {
              type: 'object',
              properties: {
                description: {
                  type: 'string',
                },
              },
            },
          },
        },
        anything: {
          'x-kubernetes-preserve-unknown-fields': true,
        },
        supplier: {
          type: 'object',
          required: ['name'],
          properties: {
            name: {
              type: 'string',
            },
            'contract-id': {
              type: 'string',
            },
          },
        },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: {
                type: 'string',
              },
              Name: {
                type: 'object',
                properties: {
                  first: {
                    type: 'string',
                  },
                },
              },
              limits: {
                type: 'object',
                additionalProperties: {
                  type: 'integer',
                },
              },
            },
          },
        },
      },
    },
  },
};

const status: Schema = {
  type: 'object',
  properties: {
    replicas: {
      type: 'integer',
    },
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: {
            type: 'string',
          },
          status: {
            type: 'string',
            enum: ['True', 'False', 'Unknown'],
          },
        },
      },
    },
  },
};

type Fields = Omit<Gadget, 'apiVersion' | 'kind' | 'metadata' | 'status'>;
type Input = Omit<Gadget, 'apiVersion' | 'kind' | 'status'>;

/** The kind Gadget of factory.example.com/v1, for watches, clients, validation and tests. */
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
      name: 'v1',
      schema: s.typed<Fields>(schema),
      status: s.typed<NonNullable<Gadget['status']>>(status),
      printerColumns: [
        {
          name: 'Ready',
          type: 'string',
          jsonPath: '.status.conditions[?(@.type=="Ready")].status',
        },
      ],
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
      },
    },
  ],
}) as CustomResource<Gadget, Input> & ResourceType<Gadget>;
