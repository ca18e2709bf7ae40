import { defineResource, s } from '../../crd/index.js';
import type { ObjectOf, ValueOf } from '../../crd/index.js';
import type { InputOf } from '../../crd/internal.js';
import type { KubernetesObject } from '../../object/index.js';
import type { CleanUpPolicy } from '../operator/controller-set.js';
import { sourceTypes, targetTypes } from '../spec/operator-spec.js';

/** The group of a kind. `''` is the core group; an absent group means a view of the operator. */
const apiGroup = s.optional(
  s.string({
    description:
      'The API group. Empty: the core group. Absent: a view of this operator. ' +
      '<operator>.view.dcontroller.io: a view of another operator.',
  }),
);
const version = s.optional(
  s.string({ description: 'Absent: the preferred version of the server, or v1alpha1 for a view.' }),
);
const kind = s.string({ minLength: 1, description: 'For example Pod, or the name of a view.' });

const source = s.object({
  apiGroup,
  version,
  kind,
  type: s.optional(
    s.string({
      enum: sourceTypes,
      description: 'Watcher (the default) follows objects; OneShot and Periodic are triggers.',
    }),
  ),
  as: s.optional(
    s.string({ description: 'The name in the documents of a join. Absent: the kind.' }),
  ),
  namespace: s.optional(s.string({ description: 'Absent: all namespaces.' })),
  labelSelector: s.optional(s.builtIn('LabelSelector')),
  predicate: s.optional(
    s.unknown({
      description:
        'Selects the changes to handle: the name of a predicate, or a map with and, or, not.',
    }),
  ),
  parameters: s.optional(
    s.unknown({ description: 'For a Periodic source: period, such as 30s or 5m.' }),
  ),
});

const target = s.object({
  apiGroup,
  version,
  kind,
  type: s.optional(
    s.string({
      enum: targetTypes,
      description: 'Updater (the default) owns whole objects, Patcher single fields of them.',
    }),
  ),
});

const controller = s.object({
  name: s.string({ minLength: 1, description: 'Unique in the operator.' }),
  sources: s.array(source, { minItems: 1 }),
  pipeline: s.optional(
    s.unknown({ description: 'A stage or a list of stages; absent: objects pass through.' }),
  ),
  target,
});

const spec = s.object({ controllers: s.array(controller, { minItems: 1, maxItems: 255 }) });

const controllerStatus = s.object({
  name: s.string(),
  conditions: s.conditions(),
  lastErrors: s.optional(
    s.array(s.string(), {
      description: 'The latest errors of the controller: at most ten, the newest last.',
    }),
  ),
  target: s.optional(
    s.object(
      { apiGroup, version, kind: s.string(), type: s.optional(s.string()) },
      { description: 'The target of the controller. Its objects are removed with the controller.' },
    ),
  ),
});

const status = s.object({
  observedGeneration: s.optional(s.integer({ format: 'int64' })),
  conditions: s.conditions(),
  controllers: s.array(controllerStatus),
});

/**
 * The custom resource `operators.dcontroller.io/v1alpha1`: cluster-scoped, with a status subresource.
 * `OperatorResource.crd` is its definition. It accepts every object that is valid under dcontroller's own
 * definition and can run. The operator itself reads the free-form fields and reports their problems in the
 * status.
 */
export const OperatorResource = defineResource({
  group: 'dcontroller.io',
  kind: 'Operator',
  scope: 'Cluster',
  categories: ['dcontroller'],
  versions: [{ name: 'v1alpha1', schema: s.object({ spec }), status }],
  printerColumns: [
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

/** An `Operator` object. */
export type OperatorResource = ObjectOf<typeof OperatorResource>;
/** The `spec` of an `Operator` object: an operator as it is written in YAML. */
export type OperatorDocument = InputOf<typeof spec>;
/** A controller as it is written in YAML. */
export type ControllerDocument = InputOf<typeof controller>;
/** The `status` of an `Operator` object. */
export type OperatorStatus = ValueOf<typeof status>;
/** The entry of one controller in the status of an operator. */
export type OperatorControllerStatus = ValueOf<typeof controllerStatus>;

/**
 * Annotation of an `Operator` object with the policy for the objects that its controllers wrote, applied
 * when a controller or the object is removed: `delete`, or `orphan`, the default. An annotation, not a
 * field, so that the object is also valid under dcontroller's own definition.
 */
export const cleanUpAnnotation = 'operator-builder.io/clean-up';

/** Finalizer of an `Operator` object with the policy `delete`, until the objects that it wrote are gone. */
export const cleanUpFinalizer = 'operator-builder.io/clean-up';

/** Returns the policy of an object; undefined: its annotation has an invalid value. */
export function cleanUpPolicyOf({ metadata }: KubernetesObject): CleanUpPolicy | undefined {
  const written = metadata.annotations?.[cleanUpAnnotation]?.toLowerCase() ?? 'orphan';
  return written === 'delete' || written === 'orphan' ? written : undefined;
}
