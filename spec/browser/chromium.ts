import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

/** The path in Debian's package. */
const debianPath = '/usr/bin/chromium';

/**
 * Starts a headless Chromium: that of `CHROMIUM_PATH`, or Debian's.
 * @throws if no Chromium is installed, because specs must not pass without a browser
 */
export async function startChromium(): Promise<Browser> {
  const { CHROMIUM_PATH: executablePath = debianPath } = process.env;
  if (!existsSync(executablePath)) {
    const remedy = "install Debian's package chromium, or set CHROMIUM_PATH";
    throw new Error(`there is no Chromium at ${executablePath}: ${remedy}`);
  }
  // Chromium refuses to run its sandbox as root, the user in containers.
  const isRoot = process.getuid?.() === 0;
  const args = ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args, headless: true });
}
