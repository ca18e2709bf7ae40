// Builds lib/ into dist/: tsc, then the data files that the embedded server reads at run time.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const folder of readdirSync('lib')) {
  const data = `lib/${folder}/data`;
  if (existsSync(data)) cpSync(data, `dist/${folder}/data`, { recursive: true });
}
