/** A moment (milliseconds since 1970) as Kubernetes writes it: RFC 3339, whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds since 1970 of an RFC 3339 time, or 0 where there is none. */
export function timestampMs(time: string | undefined): number {
  const ms = time === undefined ? NaN : Date.parse(time);
  return Number.isNaN(ms) ? 0 : ms;
}
