import type * as Api from '@opentelemetry/api';
import type { Context, Span as ApiSpan, Tracer as ApiTracer } from '@opentelemetry/api';
import { refuseUnknownOptions } from './known-options.js';

/** The attributes of a span; all values are plain. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A source of spans; `registeredTracer` returns one that sends them to OpenTelemetry. */
export interface Tracer {
  /**
   * Begins a span, runs `work` and ends the span. Records an error of `work` in the span and throws it. Spans
   * that `work` begins by its {@link Span} argument are children.
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

/** Options of `openTelemetryTracer`. */
export interface OpenTelemetryOptions {
  /** The instrumentation scope of the spans. @defaultValue 'operator-builder' */
  readonly scope?: string | undefined;
}

/**
 * Creates a tracer on the OpenTelemetry API of the process, which needs the optional peer
 * `@opentelemetry/api`. An SDK registered there, before or after, receives the spans. Parents are passed
 * explicitly, so no context manager is needed. If one is registered, spans that other code begins within a
 * reconcile are children of its span.
 * @throws an error of Node's `import()`: the package is not installed.
 */
export async function openTelemetryTracer(options: OpenTelemetryOptions = {}): Promise<Tracer> {
  const { scope = 'operator-builder' } = options;
  refuseUnknownOptions<OpenTelemetryOptions>('openTelemetryTracer', options, { scope });
  const api = await import('@opentelemetry/api');
  return tracerIn(api, { tracer: api.trace.getTracer(scope), parent: undefined });
}

/**
 * Returns a tracer that sends spans to OpenTelemetry, if an SDK is registered with its API in this process; otherwise
 * a tracer that records nothing.
 */
export async function registeredTracer(options: OpenTelemetryOptions = {}): Promise<Tracer> {
  return isRegistered('trace') ? openTelemetryTracer(options) : noTracer;
}

/**
 * Returns whether an SDK has registered a provider for `signal`. The API keeps providers under a global name, so that
 * copies of the package find each other. This check is free; loading the package is not.
 */
export function isRegistered(signal: 'trace' | 'metrics'): boolean {
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')];
  return (registered as Record<string, unknown> | undefined)?.[signal] !== undefined;
}

interface Scope {
  readonly tracer: ApiTracer;
  /** The parent of new spans; if undefined, the active span is the parent. */
  readonly parent: Context | undefined;
}

function tracerIn(api: typeof Api, scope: Scope): Tracer {
  return {
    span: async (name, attributes, work) => {
      const parent = scope.parent ?? api.context.active();
      const span = scope.tracer.startSpan(name, { attributes: { ...attributes } }, parent);
      const context = api.trace.setSpan(parent, span);
      const children = tracerIn(api, { tracer: scope.tracer, parent: context });
      const own = spanOn(api, span, children);
      try {
        return await api.context.with(context, () => work(own));
      } catch (error) {
        own.failed(error);
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

function spanOn({ SpanStatusCode }: typeof Api, span: ApiSpan, children: Tracer): Span {
  return {
    ...children,
    set: (attributes: SpanAttributes) => void span.setAttributes({ ...attributes }),
    failed: (error) => {
      const exception =
        error instanceof Error ? error : new Error('no error was thrown, but a value');
      span.recordException(exception);
      span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
    },
  };
}
