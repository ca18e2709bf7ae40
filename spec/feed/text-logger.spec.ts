import { expect } from 'chai';
import { usesColors, textLogger } from '../../lib/feed/text-logger.js';
import type { TextLogLevel } from '../../lib/feed/text-logger.js';
import type { Logger } from '../../lib/system/logger.js';

function logged(level: TextLogLevel, log: (logger: Logger) => void): string {
  let text = '';
  log(textLogger({ level, color: false, write: (line) => (text += line) }));
  return text;
}

describe('Text log lines', () => {
  const shop = { controller: 'shop', kind: 'Shop', namespace: 'default', name: 'a' };

  it('begin with the object and end with the next attempt', () => {
    const text = logged('info', (logger) => {
      const fields = { error: new Error('the till\nis full'), againInMs: 20 };
      logger.child({ ...shop, reconcileID: '1' }).error('reconcile failed', fields);
    });
    expect(text).to.equal(
      '! Shop default/a: reconcile failed: the till is full (again in 20 ms)\n',
    );
  });

  it('are omitted below the log level, and end with the remaining fields as key=value', () => {
    const text = logged('info', (logger) => {
      logger.debug('not this');
      logger.child({ controller: 'shop' }).info('watches', { kinds: ['a'], port: 1 });
    });
    expect(text).to.equal('· shop: watches kinds=["a"] port=1\n');
  });

  it('are written if their level is at least the given level', () => {
    const levels = ['debug', 'info', 'warn', 'error'] as const;
    const shown = (level: TextLogLevel): number => {
      const text = logged(level, (logger) => {
        for (const each of levels) logger[each]('said');
      });
      return text.split('said').length - 1;
    };
    expect([...levels, 'silent' as const].map(shown)).to.deep.equal([4, 3, 2, 1, 0]);
  });

  it('show values that have no JSON form', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const text = logged('info', (logger) => logger.info('seen', { cycle, big: { n: 7n } }));
    expect(text).to.equal('· seen cycle=<ref *1> { self: [Circular *1] } big={ n: 7n }\n');
  });

  it('include the stack and the reconcile ID at the level debug', () => {
    const text = logged('debug', (logger) => {
      logger.child({ ...shop, reconcileID: '1' }).warn('late', { error: new TypeError('no till') });
    });
    expect(text).to.match(/^! Shop default\/a: late: no till controller=shop reconcileID=1\n/);
    expect(text).to.match(/\nTypeError: no till\n {4}at /);
  });
});

describe('Colours of text log lines', () => {
  for (const [env, columns, wanted] of [
    [{}, 80, true],
    [{}, undefined, false],
    [{ FORCE_COLOR: '1' }, undefined, true],
    [{ FORCE_COLOR: '0' }, 80, false],
    [{ NO_COLOR: '1' }, 80, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, undefined, false],
    [{ NO_COLOR: '' }, 80, true],
  ] as const) {
    const where = columns === undefined ? 'in a pipe' : 'at a terminal';
    it(`are ${wanted ? 'used' : 'not used'} ${where} with ${JSON.stringify(env)}`, () => {
      expect(usesColors({ env }, { columns, write: () => undefined })).to.equal(wanted);
    });
  }
});
