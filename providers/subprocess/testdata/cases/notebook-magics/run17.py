text = '''
%time 1
!ls
'''
!echo on
text
