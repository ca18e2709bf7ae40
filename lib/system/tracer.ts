/** The attributes of a span; all values are plain. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A source of spans; `openTelemetryTracer` sends them to OpenTelemetry. */
export interface Tracer {
  /**
   * Runs `work` within a span, which ends with it. Records an error of `work` in the span and throws it.
   * Spans that `work` begins by its own {@link Span} are its children.
   */
  span<T>(name: string, attributes: SpanAttributes, work: (span: Span) => Promise<T>): Promise<T>;
}

/** A running span. */
export interface Span extends Tracer {
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed without ending it. */
  failed(error: unknown): void;
}

/** Records nothing. The default of library parts without a tracer. */
export const noTracer: Tracer = {
  span: (_name, _attributes, work) => work(noSpan),
};

/** Records nothing. */
export const noSpan: Span = { ...noTracer, set: () => undefined, failed: () => undefined };
