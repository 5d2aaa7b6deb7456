import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, expect, test } from 'vitest'
import { docx, latin1, paragraph, passwordTrailer, pdf, pdfText, utf8, zip } from './samples.ts'
import { cases } from '../../cases.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const header = `From: =?utf-8?Q?J=C3=BCrgen?= <j@x.org>
To: Ann <ann@x.org>, team: bob@x.org, cy@x.org;
Cc: d@x.org
Subject: =?iso-8859-1?Q?Urlaub_f=FCr?= alle
Date: Fri, 1 Mar 2024 10:00:00 +0100 (CET)
Message-ID: <1@x.org>
MIME-Version: 1.0
`

const crlf = (text: string): string => text.replaceAll('\n', '\r\n')
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/.{76}/g, '$&\n')

function mixed(...parts: string[]): Uint8Array {
  const body = parts.map((part) => `--b1\n${part}\n`).join('')
  return utf8(crlf(`${header}Content-Type: multipart/mixed; boundary=b1\n\n${body}--b1--\n`))
}

const attachment = (name: string, type: string, bytes: Uint8Array): string =>
  `Content-Type: ${type}; name="${name}"\nContent-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\n${base64(bytes)}`

test('subject, people and date of a mail are told beside its text', async () => {
  const file = await extract({
    name: 'a.eml',
    bytes: utf8(crlf(`${header}Content-Type: text/plain; charset=utf-8\n\nGrüße\n`)),
  })
  expect(file).toMatchObject({
    mediaType: 'message/rfc822',
    title: 'Urlaub für alle',
    sections: [{ text: 'Grüße' }],
    metadata: {
      author: 'Jürgen <j@x.org>',
      from: 'Jürgen <j@x.org>',
      to: ['Ann <ann@x.org>', 'bob@x.org', 'cy@x.org'],
      cc: 'd@x.org',
      message_id: '<1@x.org>',
    },
    createdAt: Date.UTC(2024, 2, 1, 9),
    updatedAt: Date.UTC(2024, 2, 1, 9),
  })
})

test('the charset and the transfer encoding of the text are undone', async () => {
  const part =
    'Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nStra=DFe 5=\n, M=FCnchen\n'
  expect((await extract({ name: 'a.eml', bytes: mixed(part) })).sections[0]?.text).toBe('Straße 5, München')
  const raw = latin1(
    crlf(
      `${header}Content-Type: text/plain; charset=windows-1252\nContent-Transfer-Encoding: 8bit\n\n\x80 5 caf\xe9\n`,
    ),
  )
  expect((await extract({ name: 'a.eml', bytes: raw })).sections[0]?.text).toBe('€ 5 café')
})

test('of two forms of one text the HTML is read, as Markdown', async () => {
  const bytes = utf8(
    crlf(`${header}Content-Type: multipart/alternative; boundary=b2

--b2
Content-Type: text/plain

plain
--b2
Content-Type: text/html; charset=utf-8

<style>p{color:red}</style><h2>News</h2><table><tr><th>A<th>B<tr><td>1<td>2</table>
--b2--
`),
  )
  expect((await extract({ name: 'a.eml', bytes })).sections[0]?.text).toBe(
    '## News\n\n| A | B |\n| --- | --- |\n| 1 | 2 |',
  )
})

test('attached documents are sections under their names', async () => {
  const bytes = mixed(
    'Content-Type: text/plain\n\nSee attached.',
    attachment('rules.docx', 'application/octet-stream', docx(paragraph('Thirty days.'))),
    attachment('plan.pdf', 'application/pdf', pdf([pdfText([[72, 700, 11, 'March plan.']])])),
    attachment('photo.png', 'image/png', latin1('\x89PNG\r\n\x1a\n\0\0\0\0')),
  )
  const file = await extract({ name: 'a.eml', bytes })
  expect(file.sections).toMatchObject([
    { text: 'See attached.' },
    { heading: 'rules.docx', text: 'Thirty days.' },
    { heading: 'plan.pdf', text: 'March plan.', page: 1 },
  ])
  expect(file).toMatchObject({ metadata: { attachments: ['rules.docx', 'plan.pdf', 'photo.png'] } })
})

test('an attachment that cannot be read is named and does not fail the mail', async () => {
  const bytes = mixed(
    'Content-Type: text/plain\n\nHello.',
    attachment('secret.pdf', 'application/pdf', pdf([''], { trailer: passwordTrailer })),
    attachment('no-body.docx', 'application/octet-stream', zip({ 'word/document.xml': '<w:document/>' })),
    attachment('page-not-found.xlsx', 'application/octet-stream', utf8('404 not found')),
    attachment('rules.docx', 'application/octet-stream', docx(paragraph('Thirty days.'))),
  )
  const file = await extract({ name: 'a.eml', bytes })
  expect(file.sections).toMatchObject([{ text: 'Hello.' }, { heading: 'rules.docx', text: 'Thirty days.' }])
  expect(file.metadata).toMatchObject({
    unreadable_attachments: ['secret.pdf', 'no-body.docx', 'page-not-found.xlsx'],
  })
})

test('a mail names attachments with missing notes, and those that are unreadable', async () => {
  const reference = '<w:p><w:r><w:t>Pay</w:t></w:r><w:r><w:footnoteReference w:id="9"/></w:r></w:p>'
  const bytes = mixed(
    'Content-Type: text/plain\n\nHello.',
    attachment('pay.docx', 'application/octet-stream', docx(reference)),
    attachment(`${'n'.repeat(600)}.pdf`, 'application/pdf', latin1('%PDF-1.7 broken')),
  )
  const { metadata = {} } = await extract({ name: 'a.eml', bytes })
  expect(metadata['unreadable_attachments']).toEqual([
    'pay.docx: 1 of its footnotes or comments',
    `${'n'.repeat(400)}…`,
  ])
  // Of long metadata only the beginning is recorded.
  expect(Object.keys(metadata)[0]).toBe('unreadable_attachments')
})

test('a mail without its extension is known by its header, a text that quotes one is text', async () => {
  const mail = utf8(crlf(`${header}\nHello\n`))
  expect((await extract({ name: 'message', bytes: mail })).mediaType).toBe('message/rfc822')
  expect((await extract({ name: 'note', bytes: utf8('Note: this is it\nFrom: me\nbody') })).mediaType).toBe(
    'text/plain',
  )
})

test('a mail nested hundreds of times ends in text or a reason, not in a crash', async () => {
  let nested = `${header}\ninnermost\n`
  for (let depth = 0; depth < cases(100, 1000); depth++)
    nested = `Subject: ${depth}\nFrom: a@x.org\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n${nested}`
  const outcome = await extract({ name: 'a.eml', bytes: utf8(crlf(nested)) }).then(
    (file) => file.mediaType,
    (error: { data: { reason: string } }) => error.data.reason,
  )
  expect(['message/rfc822', 'broken', 'too_large']).toContain(outcome)
})
