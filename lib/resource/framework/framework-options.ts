import type { Client } from '../../client/client.js';
import type { ControllerBuilder } from '../../controller/controller-builder.js';
import type { ControllerOptions } from '../../controller/controller-options.js';
import type { Source } from '../../controller/source.js';
import type { Recorder } from '../../events/recorder.js';
import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { Metrics } from '../../system/metrics.js';
import type { Random } from '../../system/random.js';
import type { BackOffFactory } from '../back-off.js';
import type { ResourceRouter } from '../resource-router.js';

/** Options of `Framework`. `T` is the object that is reconciled. */
export interface FrameworkOptions<T extends KubernetesObject> {
  /**
   * Names the controller, and the last part of the finalizer: two frameworks that look after one kind
   * need two names. A DNS label.
   */
  readonly name: string;
  /** What is reconciled. */
  readonly type: TypeReference<T>;
  /** Says which set handles which object. */
  readonly resourceRouter: ResourceRouter<T>;
  /** Its reads may come from a cache; it stays the caller's. */
  readonly client: Client;
  /** Installed, or brought up to date, before the start. @defaultValue none: it is there */
  readonly crd?: CustomResourceDefinition | undefined;
  /** What tells of changes of the objects. @defaultValue a watch of `type` */
  readonly informer?: Source | undefined;
  /** Adds links to the controller, for example `(controller) => controller.owns(ConfigMap)`. @defaultValue none */
  readonly configure?: ((controller: ControllerBuilder) => ControllerBuilder) | undefined;
  /** The tries to start: the installation of `crd`. @defaultValue `defaultBackOffFactory()`: 7 tries */
  readonly backOffFactory?: BackOffFactory | undefined;
  /** The first part of the finalizer `<prefix>/<name>`. @defaultValue 'operator-builder.io' */
  readonly finalizerPrefix?: string | undefined;
  /**
   * Annotations that pause an object that has one of them with exactly this value, beside
   * `operator-builder.io/paused: "true"` and `cluster.x-k8s.io/paused: "true"`. @defaultValue none
   */
  readonly pauseAnnotations?: Readonly<Record<string, string>> | undefined;
  /**
   * The type of the condition that shows on each object whether it is reconciled, where its status keeps
   * conditions. Two frameworks of one kind need two types. `false`: none is written, as in a chain whose
   * resources write one themselves. @defaultValue 'Ready'
   */
  readonly readyCondition?: string | false | undefined;
  /**
   * Every object is looked at again after this time, in milliseconds, ± 10 %: what no watch tells of
   * is found then. `Infinity`: never. @defaultValue 300_000
   */
  readonly resyncPeriodMs?: number | undefined;
  /** When a deletion is played again whose finalizer was kept, in milliseconds. @defaultValue 5_000 */
  readonly keptFinalizerRetryMs?: number | undefined;
  /**
   * Concurrency, time-out, back-off of objects that fail. @defaultValue four objects at once, else the
   * controller's own
   */
  readonly controller?: Omit<ControllerOptions, 'name'> | undefined;
  /** @defaultValue a recorder of its own, on `client` */
  readonly recorder?: Recorder | undefined;
  /** The first parts of its metrics' names. @defaultValue 'operatorkit' and 'framework' */
  readonly prometheusNamespace?: string | undefined;
  readonly prometheusSubsystem?: string | undefined;
  /** @defaultValue none are kept */
  readonly metrics?: Metrics | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
}
