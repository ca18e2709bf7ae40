/** One check of `/healthz` or `/readyz`. */
export interface HealthCheck {
  /** One path segment: `/readyz/<name>` runs only this check, `?exclude=<name>` omits it. */
  readonly name: string;
  /** Returns or resolves if healthy; throws a short description of the problem, without secrets. */
  check(signal: AbortSignal): void | Promise<void>;
  /** Returns the text that `?verbose` adds to `ok`; short and without secrets. */
  remark?(): string | undefined;
}
