import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { openTelemetryTracer, registeredTracer, noTracer } from '../../lib/system/tracer.js';

describe('openTelemetryTracer', () => {
  const exporter = new InMemorySpanExporter();

  beforeEach(() => {
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    trace.setGlobalTracerProvider(provider);
  });

  afterEach(() => {
    exporter.reset();
    trace.disable();
  });

  it('ends a span when its work ends, and records the given attributes', async () => {
    const tracer = await openTelemetryTracer({ scope: 'mine' });
    const answer = await tracer.span('work', { a: 1 }, async (span) => {
      expect(exporter.getFinishedSpans()).to.deep.equal([]);
      span.set({ b: 'x' });
      return 7;
    });
    expect(answer).to.equal(7);
    const [span] = exporter.getFinishedSpans();
    expect(span?.name).to.equal('work');
    expect(span?.attributes).to.deep.equal({ a: 1, b: 'x' });
    expect(span?.instrumentationScope.name).to.equal('mine');
    expect(span?.status.code).to.equal(0);
  });

  it('sets the parents of spans even if no context manager is registered', async () => {
    const tracer = await openTelemetryTracer();
    await tracer.span('outer', {}, (outer) =>
      outer.span('middle', {}, (middle) => middle.span('inner', {}, async () => undefined)),
    );
    const [inner, middle, outer] = exporter.getFinishedSpans();
    expect(inner?.parentSpanContext?.spanId).to.equal(middle?.spanContext().spanId);
    expect(middle?.parentSpanContext?.spanId).to.equal(outer?.spanContext().spanId);
    expect(outer?.parentSpanContext).to.equal(undefined);
  });

  it('records a thrown value, and throws it', async () => {
    const tracer = await openTelemetryTracer();
    for (const thrown of [new Error('no'), undefined]) {
      const error = await tracer
        .span('work', {}, () => Promise.reject(thrown as Error))
        .catch((caught: unknown) => ({ caught }));
      expect(error).to.deep.equal({ caught: thrown });
    }
    const statuses = exporter.getFinishedSpans().map(({ status }) => status);
    expect(statuses.map(({ code }) => code)).to.deep.equal([2, 2]);
    expect(statuses[0]?.message).to.equal('no');
  });
});

describe('registeredTracer', () => {
  it('is noTracer until an SDK is registered', async () => {
    expect(await registeredTracer()).to.equal(noTracer);
    trace.setGlobalTracerProvider(new BasicTracerProvider());
    try {
      expect(await registeredTracer()).not.to.equal(noTracer);
    } finally {
      trace.disable();
    }
  });
});
