import type { Logger } from '../system/logger.js';
import type { Call } from './call.js';

// Warnings may contain times or names, so the memory of them is bounded.
const mostRemembered = 1_000;

/** Logs each warning of an API server (deprecated versions, unknown fields) once. */
export class WarningLog {
  readonly #logger: Logger;
  readonly #seen = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param header - the `Warning` header; several are joined by commas. */
  add(header: string | undefined, call: Call): void {
    if (header === undefined) return;
    for (const warning of warningsIn(header)) {
      if (this.#seen.has(warning)) continue;
      if (this.#seen.size >= mostRemembered) this.#seen.clear();
      this.#seen.add(warning);
      const { verb, kind, namespace, name } = call;
      this.#logger.warn(`API server warns: ${warning}`, { verb, kind, namespace, name });
    }
  }
}

/** Returns the texts of `299 - "text", 299 - "text"` (RFC 7234, 5.5); quotes in them are escaped. */
export function warningsIn(header: string): string[] {
  const matches = header.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g);
  return Array.from(matches, ([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}
