import { expect } from 'chai';
import { OperatorError } from '../../lib/system/operator-error.js';
import { silentLogger } from '../../lib/system/logger.js';
import { pinoLogger } from '../../lib/system/pino-logger.js';
import type { PinoLoggerOptions } from '../../lib/system/pino-logger.js';

function setUp(options: PinoLoggerOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  return { lines, logger: pinoLogger({ destination, ...options }) };
}

describe('pinoLogger', () => {
  it('writes a JSON line with level, time, message and fields', () => {
    const { lines, logger } = setUp();
    logger.info('reconciled', { namespace: 'shop', name: 'web' });
    const { time, ...rest } = lines[0] ?? {};
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(rest).to.deep.equal({
      level: 'info',
      msg: 'reconciled',
      namespace: 'shop',
      name: 'web',
    });
  });

  it('omits lines below its level, debug by default', () => {
    const { lines, logger } = setUp();
    logger.debug('a');
    logger.warn('b');
    logger.error('c');
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn', 'error']);
    const verbose = setUp({ level: 'debug' });
    verbose.logger.debug('a');
    expect(verbose.lines).to.have.length(1);
    const silent = setUp({ level: 'silent' });
    silent.logger.error('a');
    expect(silent.lines).to.be.empty;
  });

  it('adds the fields of a child logger to its lines', () => {
    const { lines, logger } = setUp();
    logger.child({ controller: 'tenant' }).child({ name: 'web' }).info('x', { a: 1 });
    expect(lines[0]).to.include({ controller: 'tenant', name: 'web', a: 1 });
  });

  it('writes an error with its stack and causes', () => {
    const { lines, logger } = setUp();
    logger.error('failed', { error: new Error('outer', { cause: new Error('inner') }) });
    const error = lines[0]?.['error'] as Record<string, unknown>;
    expect(error['message']).to.equal('outer');
    expect(error['stack']).to.contain('pino-logger.spec');
    expect(error['cause']).to.have.property('message', 'inner');
  });

  it('writes each error of a ReconcileFailedError once, and not again where it is also a cause', () => {
    const { lines, logger } = setUp({ level: 'debug' });
    const cause = new Error('the disk is full');
    const part = new OperatorError('Terminal', 'web: the disk is full', { cause });
    const error = Object.assign(
      new OperatorError('ReconcileFailed', part.message, { cause: part }),
      {
        errors: [part, part, new OperatorError('Timeout', 'db: not there', { cause })],
      },
    );
    Object.assign(cause, { cause: error });
    logger.error('failed', { error });
    const text = JSON.stringify(lines[0]);
    expect(text.split('the disk is full')).to.have.length(2);
    expect(text.split('"stack"')).to.have.length(5);
    expect(text).to.include('db: not there').and.include('"code":"Terminal"');
  });

  it('writes the stack of an unexpected error that is the cause of an OperatorError, and no other stack', () => {
    const { lines, logger } = setUp();
    const cause = new TypeError('x is not a function');
    logger.error('failed', { error: new OperatorError('Terminal', 'web: broken', { cause }) });
    const { stack, cause: inner } = lines[0]?.['error'] as Record<string, Record<string, string>>;
    expect(stack).to.equal(undefined);
    expect(inner?.['message']).to.equal('x is not a function');
    expect(inner?.['stack']).to.match(/^at .*pino-logger\.spec/);
  });

  it('writes nested fields of an error, such as the request of an HTTP client, in full only at level debug', () => {
    const request = { headers: { authorization: 'Bearer abc' }, path: '/x' };
    const error = Object.assign(new Error('refused'), { request, status: 403 });
    const [info, debug] = [setUp(), setUp({ level: 'debug' })];
    for (const { logger } of [info, debug]) logger.error('failed', { error });
    expect(info.lines[0]?.['error']).to.deep.include({ request: { path: '/x' }, status: 403 });
    expect(debug.lines[0]?.['error']).to.deep.include({ request, status: 403 });
  });

  it('limits the size of a line', () => {
    const { lines, logger } = setUp();
    const errors = Array.from({ length: 1_000 }, (_, index) => new Error(`problem ${index}`));
    logger.error('failed', { error: new AggregateError(errors, 'x'.repeat(1_000_000)) });
    expect(JSON.stringify(lines[0]).length).to.be.below(30_000);
    expect(lines[0]?.['error']).to.include({ moreErrors: 990 });
  });

  it('omits the stacks of an error and its causes with stacks: false', () => {
    const { lines, logger } = setUp({ stacks: false });
    const cause = new AggregateError([new Error('one')], 'inner');
    logger.error('failed', { error: new Error('outer', { cause }) });
    logger.error('failed', { error: 'a text' });
    expect(JSON.stringify(lines)).to.include('outer').and.include('inner').and.include('a text');
    expect(JSON.stringify(lines)).to.not.include('stack').and.not.include('    at ');
  });
});

describe('silentLogger', () => {
  it('ignores every line', () => {
    const logger = silentLogger.child({ a: 1 });
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      expect(() => logger[level]('x', {})).not.to.throw();
    }
  });
});
