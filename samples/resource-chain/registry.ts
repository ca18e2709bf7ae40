import { OperatorError } from 'operator-builder';
import type { Clock } from 'operator-builder';

/** A domain that was registered for a site. */
export interface Registration {
  readonly domain: string;
  /** The name of the site. */
  readonly site: string;
  /** With it the site's mails are signed. */
  readonly token: string;
  /** Once it was given back it is still there for a while. */
  readonly state: 'active' | 'leaving';
}

/** A service outside of the cluster in which each site must be registered. */
export interface Registry {
  find(domain: string): Promise<Registration | undefined>;
  /** Registers it, or returns what the site has registered before. @throws it is another site's. */
  register(domain: string, site: string): Promise<Registration>;
  /** Begins to give it back; `find` tells when it is gone. */
  release(domain: string): Promise<void>;
}

/** A registry within this process, which takes its time to give a domain back. */
export class FakeRegistry implements Registry {
  readonly #clock: Clock;
  readonly #releaseMs: number;
  readonly #registrations = new Map<string, { kept: Registration; goneAtMs: number }>();

  /** @param releaseMs - how long a domain is still there after it was given back, in milliseconds */
  constructor(clock: Clock, releaseMs: number) {
    this.#clock = clock;
    this.#releaseMs = releaseMs;
  }

  /** Domains that are registered. */
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
