import type * as Api from '@opentelemetry/api';
import type { Context, Span as ApiSpan, Tracer as ApiTracer } from '@opentelemetry/api';
import { noTracer } from './tracer.js';
import type { Span, SpanAttributes, Tracer } from './tracer.js';
import { refuseUnknownOptions } from './known-options.js';

/** Options of {@link openTelemetryTracer}. */
export interface OpenTelemetryOptions {
  /** Who begins the spans: the instrumentation scope. @defaultValue 'operator-builder' */
  readonly scope?: string | undefined;
}

/**
 * A tracer on the OpenTelemetry API of the process, which needs the optional peer
 * `@opentelemetry/api`; whoever registers an SDK there, before or after, gets the spans. Parents are
 * handed on explicitly, so that no context manager is needed; where one is registered, spans that
 * others begin within a reconcile are children of its span.
 * @throws an error of Node's `import()`: the package is not installed.
 */
export async function openTelemetryTracer(options: OpenTelemetryOptions = {}): Promise<Tracer> {
  const { scope = 'operator-builder' } = options;
  refuseUnknownOptions<OpenTelemetryOptions>('openTelemetryTracer', options, { scope });
  const api = await import('@opentelemetry/api');
  return tracerIn(api, { tracer: api.trace.getTracer(scope), parent: undefined });
}

/** {@link openTelemetryTracer} where some SDK has registered itself with the API, else none. */
export async function registeredTracer(options: OpenTelemetryOptions = {}): Promise<Tracer> {
  return isApiRegistered() ? openTelemetryTracer(options) : noTracer;
}

// The API keeps what is registered under this name, so that its copies find each other; to ask for it
// costs nothing, to load the package does.
function isApiRegistered(): boolean {
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')];
  return (registered as { trace?: unknown } | undefined)?.trace !== undefined;
}

interface Scope {
  readonly tracer: ApiTracer;
  /** Undefined: whatever span is active. */
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
