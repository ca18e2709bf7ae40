import { OperatorError } from 'operator-builder';
import type { Clock } from 'operator-builder';

/** A domain registered for a site. */
export interface Registration {
  readonly domain: string;
  /** The name of the site. */
  readonly site: string;
  /** Signs the site's mails. */
  readonly token: string;
  /** `leaving` while the registry releases the domain. */
  readonly state: 'active' | 'leaving';
}

/** A service outside the cluster that registers the domain of each site. */
export interface Registry {
  find(domain: string): Promise<Registration | undefined>;
  /** Registers a domain, or returns the site's existing registration. @throws another site has the domain */
  register(domain: string, site: string): Promise<Registration>;
  /** Starts to release a domain; `find` returns undefined once it is released. */
  release(domain: string): Promise<void>;
}

/** A registry within this process. Releasing a domain takes a while, as with a real one. */
export class FakeRegistry implements Registry {
  readonly #clock: Clock;
  readonly #releaseMs: number;
  readonly #registrations = new Map<string, { kept: Registration; goneAtMs: number }>();

  /** @param releaseMs - how long `find` returns a domain after its release started, in milliseconds */
  constructor(clock: Clock, releaseMs: number) {
    this.#clock = clock;
    this.#releaseMs = releaseMs;
  }

  /** Registered domains, including those being released. */
  get domains(): readonly string[] {
    return [...this.#registrations.keys()].filter((domain) => this.#look(domain) !== undefined);
  }

  find(domain: string): Promise<Registration | undefined> {
    return Promise.resolve(this.#look(domain));
  }

  async register(domain: string, site: string): Promise<Registration> {
    const found = await this.find(domain);
    if (found?.site === site && found.state === 'active') return found;
    if (found !== undefined) {
      throw new OperatorError('NotOurs', `${domain} is registered for ${found.site}`);
    }
    const kept = { domain, site, token: `token-of-${domain}`, state: 'active' } as const;
    this.#registrations.set(domain, { kept, goneAtMs: Infinity });
    return kept;
  }

  async release(domain: string): Promise<void> {
    const found = await this.find(domain);
    if (found?.state !== 'active') return;
    const goneAtMs = this.#clock.monotonicMs() + this.#releaseMs;
    this.#registrations.set(domain, { kept: { ...found, state: 'leaving' }, goneAtMs });
  }

  #look(domain: string): Registration | undefined {
    const entry = this.#registrations.get(domain);
    if (entry === undefined || this.#clock.monotonicMs() >= entry.goneAtMs) return undefined;
    return entry.kept;
  }
}
