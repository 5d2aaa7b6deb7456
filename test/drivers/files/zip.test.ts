import { createBudget } from '@inlay/drivers/internal/files/budget'
import { openZip, type Archive } from '@inlay/drivers/internal/files/zip'
import { zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { utf8, zip } from './samples.ts'

const open = (bytes: Uint8Array): Archive =>
  openZip(bytes, createBudget({ unpackedBytes: 10_000_000, textCharacters: 1000 }))
const textOf = (archive: Archive, name: string): string => new TextDecoder().decode(archive.read(name))
const broken = expect.objectContaining({ refusal: expect.objectContaining({ reason: 'broken' }) })
const parts = { 'a.txt': 'The first part.', 'folder/b.txt': 'The second part, of other length.', 'c.txt': '' }
/** Position of a signature, searched from an offset. */
const placeOf = (bytes: Uint8Array, signature: number, from = 0): number => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = from; at <= bytes.length - 4; at++) if (view.getUint32(at, true) === signature) return at
  throw new Error('No such signature.')
}
const changed = (bytes: Uint8Array, change: (copy: Uint8Array, view: DataView) => void): Uint8Array => {
  const copy = bytes.slice()
  change(copy, new DataView(copy.buffer))
  return copy
}

describe('an archive', () => {
  test.each([0, 6] as const)('gives each part by its name, packed at level %i', (level) => {
    const archive = open(zip(parts, level))
    expect(archive.names).toEqual(Object.keys(parts))
    for (const [name, text] of Object.entries(parts)) expect(textOf(archive, name)).toBe(text)
    expect(textOf(archive, 'FOLDER/B.TXT')).toBe(parts['folder/b.txt'])
    expect(archive.read('d.txt')).toBeUndefined()
  })

  test.each([1, 1000])('behind %i bytes of something else is read', (length) => {
    const archive = open(Buffer.concat([Buffer.alloc(length, 7), zip(parts)]))
    for (const [name, text] of Object.entries(parts)) expect(textOf(archive, name)).toBe(text)
  })

  test('with a comment and an extra field at each part is read', () => {
    const options = { comment: 'about this part', extra: { 0x9999: utf8('more of it') } }
    const archive = open(
      zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, [utf8(text), options]]))),
    )
    expect(archive.names).toEqual(Object.keys(parts))
    for (const [name, text] of Object.entries(parts)) expect(textOf(archive, name)).toBe(text)
  })

  test('with a comment at its end is read, and the header of a part may have others than the directory', () => {
    const bytes = Buffer.from(zip({ 'a.txt': parts['a.txt'] }, 0))
    const [header, entry, end] = [placeOf(bytes, 0x04034b50), placeOf(bytes, 0x02014b50), placeOf(bytes, 0x06054b50)]
    const nameEnd = header + 30 + 5
    const extra = Buffer.from('9999040001020304', 'hex')
    const entryExtra = Buffer.from('77770100ff', 'hex')
    const [comment, closing] = [Buffer.from('about it'), Buffer.from('about all')]
    bytes.writeUInt16LE(extra.length, header + 28)
    bytes.writeUInt16LE(entryExtra.length, entry + 30)
    bytes.writeUInt16LE(comment.length, entry + 32)
    bytes.writeUInt32LE(bytes.readUInt32LE(end + 16) + extra.length, end + 16)
    bytes.writeUInt32LE(end - entry + entryExtra.length + comment.length, end + 12)
    bytes.writeUInt16LE(closing.length, end + 20)
    const whole = Buffer.concat([
      bytes.subarray(0, nameEnd),
      extra,
      bytes.subarray(nameEnd, end),
      entryExtra,
      comment,
      bytes.subarray(end),
      closing,
    ])
    expect(textOf(open(whole), 'a.txt')).toBe(parts['a.txt'])
  })
})

describe('a part is refused as broken', () => {
  const stored = zip(parts, 0)
  const contentAt = Buffer.from(stored).indexOf('The second')

  test('when a byte of it changed, though its length is right', () => {
    const archive = open(changed(stored, (copy) => void (copy[contentAt]! ^= 1)))
    expect(() => archive.read('folder/b.txt')).toThrow(broken)
    expect(textOf(archive, 'a.txt')).toBe(parts['a.txt'])
  })

  test('when its checksum changed', () => {
    const entry = placeOf(stored, 0x02014b50)
    const archive = open(changed(stored, (copy) => void (copy[entry + 16]! ^= 1)))
    expect(() => archive.read('a.txt')).toThrow(broken)
  })

  test('when it is shorter than the directory says', () => {
    const entry = placeOf(stored, 0x02014b50)
    const archive = open(changed(stored, (_, view) => view.setUint32(entry + 24, 16, true)))
    expect(() => archive.read('a.txt')).toThrow(broken)
  })

  test.each([
    ['leads to another place', 1],
    ['leads past the end', 1_000_000],
  ])('when its offset %s', (_, offset) => {
    const entry = placeOf(stored, 0x02014b50)
    const archive = open(changed(stored, (__, view) => view.setUint32(entry + 42, offset, true)))
    expect(() => archive.read('a.txt')).toThrow(broken)
  })

  test('when it goes on past the end of the file', () => {
    const entry = placeOf(stored, 0x02014b50)
    const archive = open(changed(stored, (_, view) => view.setUint32(entry + 20, 1_000_000, true)))
    expect(() => archive.read('a.txt')).toThrow(broken)
  })
})
