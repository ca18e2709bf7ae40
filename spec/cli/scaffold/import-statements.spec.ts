import { expect } from 'chai';
import { withImported, withMergedImports } from '../../../lib/cli/scaffold/insertions.js';

describe('Import statements of generated code', () => {
  it('import each module only once, with values and types together', () => {
    const text = [
      `import { a } from 'one';`,
      `import type { B } from 'one';`,
      `import { c } from './two.js';`,
      `import { d, a } from 'one';`,
      '',
      'a(c);',
    ].join('\n');
    expect(withMergedImports(text)).to.equal(
      `import { a, type B, d } from 'one';\nimport { c } from './two.js';\n\na(c);`,
    );
  });

  it('are wrapped only if they are too long for one line', () => {
    const names = ['aLongName', 'anotherLongName', 'aThirdLongName', 'andTheFourthOne', 'five'];
    const long = `import {\n${names.map((name) => `  ${name},\n`).join('')}} from 'a-module';\n`;
    expect(withMergedImports(long)).to.equal(`import { ${names.join(', ')} } from 'a-module';\n`);
    const all = `import { ${names.join(', ')} } from './a/longer/path/to/a/module.js';\n`;
    expect(withMergedImports(all)).to.match(/^import \{\n {2}aLongName,\n[^]*\n\} from/);
  });

  it('do not change if they have comments, default imports or namespaces', () => {
    for (const text of [
      `import {\n  a, // mine\n} from 'one';\nimport { b } from 'two';\n`,
      `import one from 'one';\nimport * as all from 'one';\nimport 'one';\n`,
    ]) {
      expect(withMergedImports(text)).to.equal(text);
    }
    expect(withImported(`import one from 'one';\n`, `import { a } from 'one';`)).to.equal(
      undefined,
    );
  });
});
