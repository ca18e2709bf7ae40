import { OperatorError } from 'operator-builder';
import { CrudResource, Patch, contextKey } from 'operator-builder/resource';
import type { CrudOperations, ResourceContext, States } from 'operator-builder/resource';
import type { Registry } from './registry.js';
import { nameOf } from './site.js';
import type { Site } from './site.js';

/** Token of the site's registration, for later resources of the chain. */
export const registrationToken = contextKey<string>('the token of the registration');

/** State of a domain in the registry; undefined if it is not registered. */
export type DomainState = { readonly site: string; readonly leaving: boolean } | undefined;

const lookAgainMs = 1_000;

/**
 * Returns the resource of the site's domain in the registry, which is outside the cluster. Releasing a domain
 * takes a while. Until then the site keeps its finalizer, so that the release is never left unfinished.
 */
export function domainResource(registry: Registry): CrudResource<Site, DomainState, string> {
  return new CrudResource({ operations: new DomainOperations(registry) });
}

class DomainOperations implements CrudOperations<Site, DomainState, string> {
  readonly name = 'domain';
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  async getCurrentState(context: ResourceContext, { spec }: Site): Promise<DomainState> {
    const found = await this.#registry.find(spec.domain);
    if (found === undefined) return undefined;
    context.set(registrationToken, found.token);
    return { site: found.site, leaving: found.state === 'leaving' };
  }

  getDesiredState(_context: ResourceContext, site: Site): DomainState {
    return { site: nameOf(site), leaving: false };
  }

  newUpdatePatch(
    context: ResourceContext,
    { spec: { domain } }: Site,
    { current, desired }: States<DomainState>,
  ): Patch<string> | undefined {
    if (current === undefined) return new Patch<string>().setCreateChange(domain);
    if (current.leaving) {
      context.requeueAfter(lookAgainMs);
      context.cancelReconciliation(`the registry still holds ${domain} for ${current.site}`);
    } else if (current.site !== desired?.site) {
      throw new OperatorError('NotOurs', `${domain} is registered for ${current.site}`);
    }
    return undefined;
  }

  newDeletePatch(
    context: ResourceContext,
    { spec: { domain } }: Site,
    { current, desired }: States<DomainState>,
  ): Patch<string> | undefined {
    if (current === undefined || current.site !== desired?.site) return undefined;
    context.keepFinalizers(`the registry still holds ${domain}`);
    context.requeueAfter(lookAgainMs);
    return current.leaving ? undefined : new Patch<string>().setDeleteChange(domain);
  }

  async applyCreateChange(context: ResourceContext, site: Site, domain: string): Promise<void> {
    const { token } = await this.#registry.register(domain, nameOf(site));
    context.set(registrationToken, token);
  }

  async applyDeleteChange(_context: ResourceContext, _site: Site, domain: string): Promise<void> {
    await this.#registry.release(domain);
  }

  applyUpdateChange(): void {
    // Never called: a domain is registered or released, never updated.
  }
}
