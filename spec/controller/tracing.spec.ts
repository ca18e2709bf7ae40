import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import { openTelemetryTracer } from '../../lib/system/tracer.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';

describe('spans of a controller', () => {
  const exporter = new InMemorySpanExporter();

  before(() => {
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    trace.setGlobalTracerProvider(provider);
  });

  after(() => trace.disable());

  it('cover each reconcile, with its requests as children', async () => {
    const setup = new ControllerSetup();
    const ids: string[] = [];
    const controller = controllerFor(Thing).complete(async ({ client, key, reconcileID, span }) => {
      ids.push(reconcileID);
      if (ids.length === 1) throw new Error('not yet');
      const thing = await client.get(Thing, key);
      await span.span('think', {}, () => client.live.get(Thing, key));
      if (thing.spec?.size !== 2) await client.update({ ...thing, spec: { size: 2 } });
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { tracer: await openTelemetryTracer() });
    await setup.clock.advance(10);
    await setup.stop(running);
    const spans = exporter.getFinishedSpans();
    const [failed, ...others] = spans;
    expect(failed?.name).to.equal('reconcile Thing');
    expect(failed?.attributes).to.deep.equal({
      'k8s.controller': 'thing',
      'k8s.kind': 'Thing',
      'k8s.cluster.name': '',
      'k8s.namespace.name': 'ns',
      'k8s.object.name': 'a',
      'reconcile.id': ids[0],
      result: 'error',
    });
    expect(failed?.status).to.deep.equal({ code: 2, message: 'not yet' });
    const second = others.find(({ attributes }) => attributes['reconcile.id'] === ids[1]);
    expect(second?.attributes['result']).to.equal('success');
    expect(second?.status.code).to.equal(0);
    const parentOf = (name: string): string | undefined =>
      others.find((span) => span.name === name)?.parentSpanContext?.spanId;
    // Reads from the cache are not requests.
    expect(others.slice(0, 4).map(({ name }) => name)).to.deep.equal([
      ...['get Thing', 'think', 'update Thing', 'reconcile Thing'],
    ]);
    expect(parentOf('update Thing')).to.equal(second?.spanContext().spanId);
    expect(parentOf('get Thing')).to.equal(second?.spanContext().spanId);
  });

  it('have an error status if the reconcile timed out', async () => {
    exporter.reset();
    const setup = new ControllerSetup();
    const controller = controllerFor(Thing)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .complete(() => new Promise(() => undefined));
    setup.things.put('a');
    const running = await setup.start(controller, { tracer: await openTelemetryTracer() });
    await setup.clock.advance(1_000);
    const [span] = exporter.getFinishedSpans();
    expect(span?.attributes).to.include({ 'k8s.object.name': 'a', result: 'timeout' });
    expect(span?.status).to.include({ code: 2 });
    expect(span?.status.message).to.include('reconcile of ns/a: not over after 1000 ms');
    await setup.stop(running);
  });
});
