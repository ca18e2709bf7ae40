import {
  ConfigMap,
  Deployment,
  Manager,
  Namespace,
  Secret,
  Service,
  silentLogger,
  systemClock,
  systemRandom,
} from 'operator-builder';
import type { Client, Clock, Logger, Random } from 'operator-builder';
import { Framework, ResourceRouter } from 'operator-builder/resource';
import { chainV1 } from './chain-v1.js';
import { chainV2 } from './chain-v2.js';
import type { Registry } from './registry.js';
import { Site } from './site.js';

/** Names the operator's finalizer, and who owns what it applies. */
export const operatorName = 'site-operator';

/** Options of {@link runSiteOperator}. */
export interface SiteOperatorOptions {
  readonly client: Client;
  readonly registry: Registry;
  /** Stops the operator: what runs is finished, nothing new begins. */
  readonly signal: AbortSignal;
  /** The name of the only site that it looks after. @defaultValue all */
  readonly site?: string | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
  /** Called once it works. */
  readonly onReady?: (() => void) | undefined;
}

/** Installs the custom resource, then reconciles every site until `signal` is aborted. */
export async function runSiteOperator(options: SiteOperatorOptions): Promise<void> {
  const { client, registry, site, signal, onReady } = options;
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  const chain = { registry, site };
  const framework = new Framework({
    ...{ name: operatorName, type: Site, crd: Site.crd, client, clock, random, logger },
    resourceRouter: new ResourceRouter({ resourceSets: [chainV1(chain), chainV2(chain)] }),
    configure: (controller) =>
      controller.owns(Namespace).owns(ConfigMap).owns(Secret).owns(Service).owns(Deployment),
  });
  const manager = new Manager({ client, clock, random, logger, rbacPreflight: 'off' });
  framework.addTo(manager);
  const started = new AbortController();
  const ready = manager.whenStarted(started.signal).then(onReady, () => undefined);
  try {
    await manager.run(signal);
  } finally {
    started.abort();
    await ready;
  }
}
