import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { latin1, utf8 } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const tables = new Map<string, Map<string, number[]>>()

/** Bytes of each character of an encoding with at most two bytes a character. */
function tableOf(encoding: string): Map<string, number[]> {
  const known = tables.get(encoding)
  if (known) return known
  const table = new Map<string, number[]>()
  const decoder = new TextDecoder(encoding)
  const add = (bytes: number[]): void => {
    const text = decoder.decode(Uint8Array.from(bytes))
    if (text.length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes)
  }
  for (let first = 0; first < 256; first++) add([first])
  if (/jis|jp|gb|big5|kr/.test(encoding))
    for (let first = 0x81; first < 255; first++) for (let second = 0x40; second < 255; second++) add([first, second])
  tables.set(encoding, table)
  return table
}

const encode = (text: string, encoding: string): Uint8Array =>
  Uint8Array.from([...text].flatMap((letter) => tableOf(encoding).get(letter)!))

const read = async (name: string, bytes: Uint8Array, mediaType?: string) => {
  const { title, sections, metadata } = await extract({ name, bytes, mediaType })
  return { title, text: sections.map(({ text }) => text).join('\n\n'), metadata }
}

describe('a text that is not UTF-8 and names no encoding', () => {
  test.each([
    ['shift_jis', '名前,部署\n佐藤太郎,総務部\n鈴木花子,経理部\n'],
    ['euc-jp', '名前,部署\n佐藤太郎,総務部\n鈴木花子,経理部\n'],
    ['gb18030', '姓名,城市\n张伟,北京\n王芳,上海\n'],
    ['big5', '姓名,城市\n陳怡君,臺北\n林志明,高雄\n'],
    ['euc-kr', '이름,도시\n김민수,서울\n이영희,부산\n'],
    ['windows-1251', 'Имя;Город\nИван;Москва\n'],
    ['koi8-u', 'Имя;Город\nИван;Москва\nОльга;Казань\n'],
    ['ibm866', 'Имя;Город\nИван;Москва\nОльга;Казань\n'],
    ['windows-1250', 'Jméno;Město\nJiří Dvořák;Plzeň\nŠárka Nováková;Třebíč\n'],
    ['iso-8859-2', 'Imię;Miasto\nŁukasz;Łódź\nMałgorzata;Gdańsk\n'],
    ['windows-1253', 'Όνομα;Πόλη\nΓιώργος;Αθήνα\nΜαρία;Πάτρα\n'],
    ['windows-1254', 'Adı;Şehir\nAyşe Yılmaz;İstanbul\nUğur Çağlar;Eskişehir\n'],
    ['windows-1255', 'שם;עיר\nדוד כהן;חיפה\nרחל לוי;ירושלים\n'],
    ['windows-1256', 'الاسم;المدينة\nأحمد علي;القاهرة\nفاطمة حسن;بغداد\n'],
    ['windows-1257', 'Vardas;Miestas\nŽydrūnas;Šiauliai\nJūratė;Panevėžys\n'],
    ['windows-874', 'ชื่อ;เมือง\nสมชาย;กรุงเทพ\nมาลี;เชียงใหม่\n'],
  ])('is read as %s by its letters, which is noted', async (encoding, text) => {
    expect(await read('a.txt', encode(text, encoding))).toMatchObject({
      text: text.trim(),
      metadata: { guessed_encoding: encoding },
    })
  })

  test.each([
    'Name;Stadt\nJörg Müller;Köln\nGünter Groß;Düsseldorf\n',
    'Prénom;Ville\nHélène;Besançon\nFrançois;Nîmes\n',
    'Nombre;Ciudad\nJosé Núñez;Málaga\nÁngela Peña;Cádiz\n',
    'Questo campo è obbligatorio.\n',
    'Namn;Stad\nÅsa Öberg;Malmö\n',
    'Nafn;Borg\nÞórður;Ísafjörður\nGuðrún;Reykjavík\n',
    'Tea: £3, coffee: €4 – it’s hot at 90 °C.\n',
  ])('is Western European where nothing else is likelier: %j', async (text) => {
    expect(await read('a.txt', encode(text, 'windows-1252'))).toMatchObject({ text: text.trim(), metadata: {} })
  })

  test('is read so as Markdown with its title, as a table and as a web page', async () => {
    const page = encode('# 说明\n\n员工每年可享受十五天带薪年假。\n', 'gb18030')
    expect(await read('a.md', page)).toMatchObject({ title: '说明', text: '# 说明\n\n员工每年可享受十五天带薪年假。' })
    const table = encode('Имя;Город\nИван;Москва\n', 'windows-1251')
    expect((await read('a.csv', table)).text).toContain('| Иван | Москва |')
    const html = encode('<html><body><p>Руководитель отвечает за три дня.</p></body></html>', 'windows-1251')
    expect((await read('a.html', html)).text).toBe('Руководитель отвечает за три дня.')
  })

  test('is guessed by its letters where they come late in a long text', async () => {
    const late = encode(`${'x = 1\n'.repeat(40_000)}Отпуск согласует руководитель.\n`, 'windows-1251')
    expect((await read('a.log', late)).text).toMatch(/Отпуск согласует руководитель\.$/)
  })
})

describe('an encoding that bytes tell', () => {
  test('ISO-2022-JP is known by the sequences that begin Japanese', async () => {
    expect((await read('a.txt', latin1('\x1b$B$"$$\x1b(B ok'))).text).toBe('あい ok')
  })

  test.each([
    'Отпуск за две недели.\nИван, Москва\n',
    '佐藤太郎,総務部\n鈴木花子,経理部\n',
    'שם, עיר\nדוד כהן, חיפה\n',
  ])('UTF-16 without a mark is known in all scripts: %j', async (text) => {
    const bytes = Buffer.from(text, 'utf16le')
    expect((await read('a.txt', bytes)).text).toBe(text.trim())
    expect((await read('a.txt', Buffer.from(bytes).swap16())).text).toBe(text.trim())
  })

  test('UTF-8 with a wrong byte, or cut off within a letter, stays UTF-8', async () => {
    const text = utf8('Отпуск согласует руководитель.')
    const damaged = Uint8Array.from([...text, 0xff, ...text, 0xd0])
    expect((await read('a.txt', damaged)).text).toBe('Отпуск согласует руководитель.�Отпуск согласует руководитель.�')
  })
})

describe('mail', () => {
  const header = 'From: Ann <ann@x.org>\r\nTo: Bo <bo@x.org>\r\nMIME-Version: 1.0\r\nMessage-ID: <1@x.org>\r\n'
  const words = 'Заявление на отпуск подаётся за две недели до его начала.'

  test('whose header and parts name no charset is read by its letters', async () => {
    const bytes = encode(
      `${header}Subject: Отпуск в июле\r\nContent-Type: text/plain\r\n\r\n${words}\r\n`,
      'windows-1251',
    )
    expect(await read('a.eml', bytes)).toMatchObject({
      title: 'Отпуск в июле',
      text: words,
      metadata: { guessed_encoding: 'windows-1251' },
    })
    const base64 = Buffer.from(encode(words, 'koi8-r')).toString('base64')
    const coded = `${header}Subject: x\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}\r\n`
    expect((await read('a.eml', utf8(coded))).text).toBe(words)
    expect((await read('a.eml', encode(`${header}Subject: x\r\n\r\n${words}\r\n`, 'windows-1251'))).text).toBe(words)
  })

  test('that was saved as UTF-16 is read, whatever charset its parts name', async () => {
    const mail = `${header}Subject: x\r\nContent-Type: text/plain; charset="iso-8859-1"\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGrüße aus Köln: ${words}\r\n`
    expect((await read('a.eml', Buffer.from(`\ufeff${mail}`, 'utf16le'))).text).toBe(`Grüße aus Köln: ${words}`)
    expect((await read('a.eml', Buffer.from(mail, 'utf16le').swap16())).text).toBe(`Grüße aus Köln: ${words}`)
  })
})

describe('Rich Text', () => {
  test('that names no code page is read by its letters', async () => {
    const words = 'Заявление на отпуск подаётся за две недели.'
    const escaped = [...encode(words, 'windows-1251')]
      .map((byte) => `\\'${byte.toString(16).padStart(2, '0')}`)
      .join('')
    expect(
      await read('a.rtf', utf8(`{\\rtf1\\ansi{\\fonttbl{\\f0\\fcharset0 Arial;}}\\f0 ${escaped}\\par}`)),
    ).toMatchObject({
      text: words,
      metadata: { guessed_encoding: 'windows-1251' },
    })
  })

  test('whose text all stands in headers and footers is read', async () => {
    const rtf =
      '{\\rtf1\\ansi{\\header\\pard Notice of meeting\\par On Friday\\par}{\\footer {\\shp{\\*\\shpinst{\\shptxt Room 5\\par}}}}\\pard\\par}'
    expect((await read('a.rtf', utf8(rtf))).text).toBe('Notice of meeting On Friday\n\nRoom 5')
  })

  test('keeps text boxes, once each, behind the paragraph that holds them', async () => {
    const box =
      '{\\shp{\\*\\shpinst\\shpleft0{\\sp{\\sn shapeType}{\\sv 202}}{\\shptxt \\pard Call {\\b us}.\\par Any day.\\par}}{\\shprslt{\\*\\do\\dobxpage{\\dptxbx{\\dptxbxtext\\pard Call us.\\par}}}}}'
    const rtf = `{\\rtf1\\ansi\\ansicpg1252 \\pard Before ${box}and after.\\par\\trowd\\intbl Cell ${box}\\cell 7\\cell\\row\\pard{\\*\\do{\\dptxbxtext Old box.\\par}}End.\\par}`
    expect((await read('a.rtf', utf8(rtf))).text).toBe(
      'Before and after.\n\nCall us.\n\nAny day.\n\n| Cell Call us. Any day. | 7 |\n| --- | --- |\n\nEnd.\n\nOld box.',
    )
  })
})
