import { textKind } from '@inlay/drivers/internal/files/file-kind'
import { expect, test } from 'vitest'
import { cpuMsOf } from '../../cpu-time.ts'

test('a long list of settings with Windows line ends is told from a mail at once', async () => {
  const read = (): void => {
    expect(textKind(`${'name: value\r\n'.repeat(29)}end`, 'settings.conf', undefined)).toBe('text')
    expect(textKind(`${'name: value\r\n\tmore\r\n'.repeat(400)}end`, 'settings.conf', undefined)).toBe('text')
    const mail = 'From: a@b.example\r\nTo: c@d.example\r\nMessage-ID: <1>\r\n folded\r\n\r\nHello'
    expect(textKind(mail, 'message', undefined)).toBe('eml')
  }
  expect(await cpuMsOf(read)).toBeLessThan(5_000)
})

test('comments before a page are read once', async () => {
  const read = (): void => {
    expect(textKind(`${'<!-- x -->\n'.repeat(29)}text`, 'notes', undefined)).toBe('text')
    expect(textKind(`${'<!-- x -->\n'.repeat(400)}<html>`, 'notes', undefined)).toBe('html')
  }
  expect(await cpuMsOf(read)).toBeLessThan(5_000)
})
