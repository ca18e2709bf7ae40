/** One check of `/healthz` or `/readyz`. */
export interface HealthCheck {
  /** One path segment: `/readyz/<name>` asks for it alone, `?exclude=<name>` leaves it out. */
  readonly name: string;
  /** Returns (or resolves) when all is well; throws what is wrong, as a short text without secrets. */
  check(signal: AbortSignal): void | Promise<void>;
  /** What `?verbose` says beside `ok` while it passes, as short and without secrets. */
  remark?(): string | undefined;
}
