import type { Client } from '../../client/client.js';
import type { ControllerBuilder, ControllerOptions, Source } from '../../controller/index.js';
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

/** Options of `Framework`. `T` is the reconciled object. */
export interface FrameworkOptions<T extends KubernetesObject> {
  /**
   * Names the controller, and is the last part of the finalizer: two frameworks for the same kind need
   * different names. A DNS label.
   */
  readonly name: string;
  /** The kind to reconcile. */
  readonly type: TypeReference<T>;
  /** Selects the resource set that handles an object. */
  readonly resourceRouter: ResourceRouter<T>;
  /** May read from a cache. The caller owns it. */
  readonly client: Client;
  /** The CRD to install or update before the start. @defaultValue undefined: the CRD is already installed */
  readonly crd?: CustomResourceDefinition | undefined;
  /** The source of events for the objects. @defaultValue a watch of `type` */
  readonly informer?: Source | undefined;
  /**
   * Adds watches to the controller, for example `(controller) => controller.owns(ConfigMap)`. @defaultValue
   * no watches
   */
  readonly configure?: ((controller: ControllerBuilder) => ControllerBuilder) | undefined;
  /** The retries of installing `crd`. @defaultValue `defaultBackOffFactory()`: 7 retries */
  readonly backOffFactory?: BackOffFactory | undefined;
  /** The first part of the finalizer `<prefix>/<name>`. @defaultValue 'operator-builder.io' */
  readonly finalizerPrefix?: string | undefined;
  /**
   * Annotations that pause an object if one of them has exactly this value, in addition to
   * `operator-builder.io/paused: "true"` and `cluster.x-k8s.io/paused: "true"`. @defaultValue no others
   */
  readonly pauseAnnotations?: Readonly<Record<string, string>> | undefined;
  /**
   * The type of the condition that shows the result of reconciling each object, if its status has conditions.
   * Two frameworks for the same kind need different types. `false` writes no condition, for example because
   * the chain's resources write one. @defaultValue 'Ready'
   */
  readonly readyCondition?: string | false | undefined;
  /**
   * The period after which every object is reconciled again, in milliseconds, ± 10 %. Finds changes that no
   * watch reports. `Infinity` disables it. @defaultValue 300_000
   */
  readonly resyncPeriodMs?: number | undefined;
  /** The delay before a deletion that kept its finalizer is retried, in milliseconds. @defaultValue 5_000 */
  readonly keptFinalizerRetryMs?: number | undefined;
  /**
   * Concurrency, time-out and back-off. @defaultValue four objects at once, else the controller's defaults
   */
  readonly controller?: Omit<ControllerOptions, 'name'> | undefined;
  /** @defaultValue a recorder made for this framework, on `client` */
  readonly recorder?: Recorder | undefined;
  /** The prefixes of the metrics' names. @defaultValue 'operatorkit' and 'framework' */
  readonly prometheusNamespace?: string | undefined;
  readonly prometheusSubsystem?: string | undefined;
  /** @defaultValue no metrics */
  readonly metrics?: Metrics | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue logs nothing */
  readonly logger?: Logger | undefined;
}
