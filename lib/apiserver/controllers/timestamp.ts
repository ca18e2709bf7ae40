/** Formats milliseconds since 1970 as Kubernetes does: RFC 3339 with whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Returns the milliseconds since 1970 of an RFC 3339 time, or 0 if it is absent or invalid. */
export function timestampMs(time: string | undefined): number {
  const ms = time === undefined ? NaN : Date.parse(time);
  return Number.isNaN(ms) ? 0 : ms;
}
