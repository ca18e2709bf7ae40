/** What is told about a span; all values are plain. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Where spans begin; `openTelemetryTracer` hands them to OpenTelemetry. */
export interface Tracer {
  /**
   * Does `work` within a span, which ends with it. What `work` throws is noted there, and thrown.
   * Spans that `work` begins by its own {@link Span} are children of it.
   */
  span<T>(name: string, attributes: SpanAttributes, work: (span: Span) => Promise<T>): Promise<T>;
}

/** A span that goes on. */
export interface Span extends Tracer {
  set(attributes: SpanAttributes): void;
  /** Notes that it failed; it goes on. */
  failed(error: unknown): void;
}

/** Notes nothing. The default of library parts that were given no tracer. */
export const noTracer: Tracer = {
  span: (_name, _attributes, work) => work(noSpan),
};

/** Notes nothing. */
export const noSpan: Span = { ...noTracer, set: () => undefined, failed: () => undefined };
